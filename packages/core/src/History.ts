/**
 * The model's history as a fold of the event log: the items of `raw_response_item`, put in an order every
 * provider takes. The output of a call stands right after it; a call without one, left by an interrupt, gets the
 * output `aborted` of the matching type in the same place (§6.3 step 3, where the original prepends it).
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { ToolCall } from "./ToolRuntime.ts"

export type ToolOutput = Extract<
  ResponseItem,
  { readonly type: "function_call_output" | "custom_tool_call_output" }
>

export const isToolCall = (item: ResponseItem): item is ToolCall =>
  item.type === "function_call" ||
  item.type === "custom_tool_call" ||
  item.type === "local_shell_call"

const isToolOutput = (item: ResponseItem): item is ToolOutput =>
  item.type === "function_call_output" || item.type === "custom_tool_call_output"

/** The output item that answers a call. */
export const outputFor = (call: ToolCall, output: string): ToolOutput => ({
  type: call.type === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output",
  call_id: call.call_id ?? "",
  output,
})

export const historyOf = (events: ReadonlyArray<Event>): ReadonlyArray<ResponseItem> => {
  const items: Array<ResponseItem> = []
  // Where the output of each call that has none yet stands in `items`. Providers repeat call ids, so each output
  // answers the oldest open call of its id; the end of a turn closes its calls.
  const open = new Map<string, Array<number>>()
  for (const { msg } of events) {
    if (isTerminal(msg)) open.clear()
    if (msg.type !== "raw_response_item") continue
    const { item } = msg
    if (isToolOutput(item)) {
      const place = open.get(item.call_id)?.shift()
      if (place !== undefined) items[place] = item
      continue
    }
    items.push(item)
    if (!isToolCall(item)) continue
    const callId = item.call_id ?? ""
    open.set(callId, [...(open.get(callId) ?? []), items.length])
    items.push(outputFor(item, "aborted"))
  }
  return items
}
