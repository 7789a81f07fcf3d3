/**
 * Which response of its script a conversation gets next. Derived from the history, so that a conversation keeps no
 * state here and a resumed one goes on where it stopped.
 *
 * A run of the model's own items is one response. The offline model's call ids name their response, so calls whose
 * outputs lie between them still count once; calls with ids of the script's own do not have that help.
 * A response that leaves nothing in the history (empty, or failed) cannot be derived: those tried in a row are
 * counted per conversation, for a bounded number of conversations, until one leaves a trace.
 */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { OfflineScript, OfflineStep } from "../OfflineScript.ts"

export const callId = (response: number, n: number): string => `call_${response}_${n}`

const responseOf = (item: ResponseItem): number | undefined => {
  if (item.type !== "function_call" && item.type !== "custom_tool_call") return undefined
  const found = /^call_(\d+)_\d+$/.exec(item.call_id)
  return found === null ? undefined : Number(found[1])
}

const isOwn = (item: ResponseItem): boolean =>
  item.type === "message"
    ? item.role === "assistant"
    : item.type !== "function_call_output" && item.type !== "custom_tool_call_output"

/** A failed response is not recorded, whatever it said before. */
const leavesTrace = (response: ReadonlyArray<OfflineStep>): boolean =>
  !response.some((step) => "error" in step) &&
  response.some((step) => !("delay_ms" in step) && !("usage" in step))

/** The index after the last response of the script that the history shows. */
export const position = (script: OfflineScript, input: ReadonlyArray<ResponseItem>): number => {
  let next = 0
  let inRun = false
  for (const item of input) {
    if (!isOwn(item)) {
      inRun = false
      continue
    }
    const named = responseOf(item)
    if (named !== undefined) next = Math.max(next, named + 1)
    else if (!inRun) {
      while (next < script.length && !leavesTrace(script[next] ?? [])) next++
      next++
    }
    inRun = true
  }
  return next
}

/** More conversations than this are not in a row of failures at once; the oldest then repeats one. */
const maxConversations = 256

/** Positions for a script; `next` counts as having been given. */
export const makePositions = (script: OfflineScript) => {
  const tried = new Map<string, { readonly from: number; readonly count: number }>()
  return {
    next: (conversationId: string, input: ReadonlyArray<ResponseItem>): number => {
      const from = position(script, input)
      const before = tried.get(conversationId)
      const index = from + (before?.from === from ? before.count : 0)
      tried.delete(conversationId)
      if (index < script.length && !leavesTrace(script[index] ?? [])) {
        tried.set(conversationId, { from, count: index - from + 1 })
        const oldest = tried.keys().next().value
        if (tried.size > maxConversations && oldest !== undefined) tried.delete(oldest)
      }
      return index
    },
  }
}
