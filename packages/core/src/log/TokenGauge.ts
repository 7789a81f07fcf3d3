/**
 * How full the context is: what the provider counted at its last answer, and an estimate of what came since. A fold of
 * the log, kept by `History`.
 *
 * The outputs of a response's calls are recorded before the provider's count of that response is told (§4.6), and are
 * not in it: what is no item of the model's own counts as sent only if it came before the response began.
 */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { historyTokens, itemTokens } from "./Tokens.ts"

export interface ContextTokens {
  /** Counted by the provider: a request with its answer; absent while it has counted none of this history. */
  readonly counted?: number
  /** Estimate of the items that came after, or of the whole history where nothing was counted. */
  readonly estimated: number
}

const isOwn = (item: ResponseItem): boolean =>
  item.type === "message"
    ? item.role === "assistant"
    : item.type !== "function_call_output" && item.type !== "custom_tool_call_output"

export class TokenGauge {
  private counted: number | undefined
  /** Estimates of what came since the count: before the response began, its own items, and others since. */
  private before = 0
  private own: number | undefined
  private behind = 0

  get tokens(): ContextTokens {
    const estimated = this.before + (this.own ?? 0) + this.behind
    return this.counted === undefined ? { estimated } : { counted: this.counted, estimated }
  }

  add(item: ResponseItem): void {
    const tokens = itemTokens(item)
    if (isOwn(item)) this.own = (this.own ?? 0) + tokens
    else if (this.own === undefined) this.before += tokens
    else this.behind += tokens
  }

  /** A response is complete; a provider that reports no usage leaves everything estimated. */
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

  /** The history is another one now; nobody has counted it. */
  restart(items: ReadonlyArray<ResponseItem>): void {
    this.counted = undefined
    this.before = historyTokens(items)
    this.own = undefined
    this.behind = 0
  }
}
