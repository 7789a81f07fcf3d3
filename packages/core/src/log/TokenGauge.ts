/**
 * The size of the history in tokens: the provider's count at its last answer, and an estimate of the items since. A fold
 * of the log, owned by `History`.
 *
 * The outputs of a response's calls are recorded before the provider's count of that response and are not part of it: an
 * item that is not of the model counts as sent only if it came before the response started.
 */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { historyTokens, itemTokens } from "./Tokens.ts"

/** Size of a history in tokens. */
export interface ContextTokens {
  /** The provider's count of the last request with its answer. Absent while it has counted none of this history. */
  readonly counted?: number
  /** Estimate of the items since that count, or of the whole history without a count. */
  readonly estimated: number
}

const isOwn = (item: ResponseItem): boolean =>
  item.type === "message"
    ? item.role === "assistant"
    : item.type !== "function_call_output" && item.type !== "custom_tool_call_output"

/** The fold. */
export class TokenGauge {
  private counted: number | undefined
  /** Estimates since the count: items before the response started, items of the response, and other items after them. */
  private before = 0
  private own: number | undefined
  private behind = 0

  get tokens(): ContextTokens {
    const estimated = this.before + (this.own ?? 0) + this.behind
    return this.counted === undefined ? { estimated } : { counted: this.counted, estimated }
  }

  /** Folds the next item of the history. */
  add(item: ResponseItem): void {
    const tokens = itemTokens(item)
    if (isOwn(item)) this.own = (this.own ?? 0) + tokens
    else if (this.own === undefined) this.before += tokens
    else this.behind += tokens
  }

  /** A response is complete. Without usage from the provider everything stays estimated. */
  count({ info }: EventOf<"token_count">): void {
    const total = info?.last_token_usage.total_tokens ?? 0
    if (total > 0) {
      this.counted = total
      this.before = this.behind
    } else {
      this.before += (this.own ?? 0) + this.behind
    }
    this.own = undefined
    this.behind = 0
  }

  /** The history was replaced, and no provider has counted the new one. */
  restart(items: ReadonlyArray<ResponseItem>): void {
    this.counted = undefined
    this.before = historyTokens(items)
    this.own = undefined
    this.behind = 0
  }
}
