/**
 * Which response of its script a conversation gets next. Derived from the history, so that a conversation keeps no
 * state here and a resumed one goes on where it stopped; a compacted history starts the script again.
 *
 * The model's own items in the history are matched with the steps that made them, by number: every item of a
 * response is recorded when it arrives, also when the response then fails. A user message ends a response that was
 * interrupted before all its items. A response that leaves no item (empty, or failed at once) cannot be derived:
 * those tried in a row are counted per conversation, for a bounded number of conversations.
 */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { OfflineScript, OfflineStep } from "../OfflineScript.ts"

export const callId = (response: number, n: number): string => `call_${response}_${n}`

const isUser = (item: ResponseItem): boolean => item.type === "message" && item.role === "user"

const isOwn = (item: ResponseItem): boolean =>
  item.type === "message"
    ? item.role === "assistant"
    : item.type !== "function_call_output" && item.type !== "custom_tool_call_output"

/** Items the steps leave in the history; nothing is said after an error. */
const itemCount = (steps: ReadonlyArray<OfflineStep>): number => {
  const error = steps.findIndex((step) => "error" in step)
  return (error === -1 ? steps : steps.slice(0, error)).filter(
    (step) => !("delay_ms" in step) && !("usage" in step),
  ).length
}

/** The index after the last response the history shows; beyond the script each item is a response of its own. */
const position = (script: OfflineScript, input: ReadonlyArray<ResponseItem>): number => {
  const sizeOf = (response: number): number => {
    const steps = script[response]
    return steps === undefined ? 1 : itemCount(steps)
  }
  let next = 0
  let used = 0
  for (const item of input) {
    if (isOwn(item)) {
      while (sizeOf(next) === 0) next++
      used++
    }
    if (used > 0 && (used === sizeOf(next) || isUser(item))) {
      next++
      used = 0
    }
  }
  return used > 0 ? next + 1 : next
}

/** More conversations than this are not in a row of failures at once; the oldest then repeats one. */
const maxConversations = 256

/** Positions for a script; what `next` gives counts as said. */
export const makePositions = (script: OfflineScript) => {
  const tried = new Map<string, { readonly from: number; readonly count: number }>()
  return {
    next: (conversationId: string, input: ReadonlyArray<ResponseItem>): number => {
      const from = position(script, input)
      const before = tried.get(conversationId)
      const index = from + (before?.from === from ? before.count : 0)
      tried.delete(conversationId)
      const steps = script[index]
      if (steps !== undefined && itemCount(steps) === 0) {
        tried.set(conversationId, { from, count: index - from + 1 })
        const oldest = tried.keys().next().value
        if (tried.size > maxConversations && oldest !== undefined) tried.delete(oldest)
      }
      return index
    },
  }
}
