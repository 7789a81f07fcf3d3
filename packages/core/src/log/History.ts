/**
 * The model's history as a fold of the event log: the items of `raw_response_item`, in an order that every provider
 * accepts. The output of a call comes right after it. A call that an interrupt left without one gets the output `aborted`
 * of the matching type in that place; the original program puts those outputs first. A summary (`compacted`) replaces
 * everything before it, and a text an image that the provider refused.
 */
import {
  type Event,
  type EventOf,
  isTerminal,
  type RefusedImages,
} from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { withoutReverted } from "./Reverted.ts"
import { type Carried, compacted } from "./Compacted.ts"
import { withoutImages } from "./RefusedImages.ts"
import { type ContextTokens, TokenGauge } from "./TokenGauge.ts"
import type { ToolCall } from "../ToolRuntime.ts"

/** An item with the output of a call. */
export type ToolOutput = Extract<
  ResponseItem,
  { readonly type: "function_call_output" | "custom_tool_call_output" }
>

/** True for a call that a tool of Colloquy runs. */
export const isToolCall = (item: ResponseItem): item is ToolCall =>
  item.type === "function_call" ||
  item.type === "custom_tool_call" ||
  item.type === "local_shell_call"

/** True for the output of such a call. */
export const isToolOutput = (item: ResponseItem): item is ToolOutput =>
  item.type === "function_call_output" || item.type === "custom_tool_call_output"

/** The item with the output of a call. */
export const outputFor = (call: ToolCall, output: string): ToolOutput => ({
  type: call.type === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output",
  call_id: call.call_id ?? "",
  output,
})

/**
 * The fold, event by event: the log of a long conversation is not folded again for each request. Only where events are
 * dropped a new one is made, with `withoutReverted`.
 */
export class History {
  private kept: Array<ResponseItem> = []
  // Index in `kept` of the output of each call that has none yet. Providers repeat call ids, so an output belongs to the
  // oldest open call of its id. The end of a turn closes its calls, and most conversations in memory have no turn.
  private open: Map<string, Array<number>> | undefined
  private carried: Carried | undefined
  private readonly gauge = new TokenGauge()

  /** Folds the next event. */
  add({ msg }: Event): void {
    if (isTerminal(msg)) this.open = undefined
    if (msg.type === "raw_response_item") {
      this.gauge.add(msg.item)
      this.addItem(msg.item)
    } else if (msg.type === "token_count") this.gauge.count(msg)
    else if (msg.type === "compacted") this.compact(msg)
    else if (msg.type === "error" || msg.type === "stream_error") this.refuse(msg.refused_images)
  }

  private refuse(images: RefusedImages | undefined): void {
    if (images === undefined) return
    this.kept = withoutImages(this.kept, images).slice()
    this.gauge.restart(this.kept)
  }

  private compact({ keeps_input = false, message }: EventOf<"compacted">): void {
    const { carried, items } = compacted(this.kept, this.carried, {
      summary: message,
      keepsInput: keeps_input,
    })
    this.carried = carried
    this.kept = items.slice()
    this.open = undefined
    this.gauge.restart(items)
  }

  private addItem(item: ResponseItem): void {
    if (isToolOutput(item)) {
      const place = this.open?.get(item.call_id)?.shift()
      if (place !== undefined) this.kept[place] = item
      return
    }
    this.kept.push(item)
    if (!isToolCall(item)) return
    const callId = item.call_id ?? ""
    this.open ??= new Map()
    const places = this.open.get(callId)
    if (places === undefined) this.open.set(callId, [this.kept.length])
    else places.push(this.kept.length)
    this.kept.push(outputFor(item, "aborted"))
  }

  /** The history, as a copy that later events do not change. */
  items(): ReadonlyArray<ResponseItem> {
    return this.kept.slice()
  }

  /** Size of the history in tokens. */
  get tokens(): ContextTokens {
    return this.gauge.tokens
  }
}

/** The fold of a whole log. */
export const foldHistory = (log: ReadonlyArray<Event>): History => {
  const history = new History()
  for (const event of withoutReverted(log)) history.add(event)
  return history
}

/** The history of a whole log. */
export const historyOf = (log: ReadonlyArray<Event>): ReadonlyArray<ResponseItem> =>
  foldHistory(log).items()
