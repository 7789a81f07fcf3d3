/**
 * The model's history as a fold of the event log: the items of `raw_response_item`, put in an order every
 * provider takes. The output of a call stands right after it; a call without one, left by an interrupt, gets the
 * output `aborted` of the matching type in the same place (§6.3 step 3, where the original prepends it).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
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
  // Providers repeat call ids across responses, so each output answers the oldest call of its id still open.
  const outputs = new Map<string, Array<ToolOutput>>()
  for (const { msg } of events) {
    if (msg.type !== "raw_response_item") continue
    if (isToolOutput(msg.item)) {
      const queue = outputs.get(msg.item.call_id)
      if (queue === undefined) outputs.set(msg.item.call_id, [msg.item])
      else queue.push(msg.item)
    } else {
      items.push(msg.item)
    }
  }
  return items.flatMap((item): ReadonlyArray<ResponseItem> =>
    isToolCall(item)
      ? [item, outputs.get(item.call_id ?? "")?.shift() ?? outputFor(item, "aborted")]
      : [item],
  )
}
