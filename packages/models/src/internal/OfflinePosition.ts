/**
 * Determines which response of its script a conversation gets next. It is derived from the history,
 * so that no state is kept for a conversation and a resumed one continues where it stopped; a
 * compacted history starts the script again.
 *
 * The model's own items in the history are matched with the steps that produced them, by number:
 * every item of a response is recorded when it arrives, also when the response fails afterwards. A
 * user message ends a response that was interrupted before all its items. A response that leaves no
 * item (empty, or failed immediately) cannot be derived; consecutive ones are counted per
 * conversation, for a bounded number of conversations.
 */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { OfflineScript, OfflineStep } from "../OfflineScript.ts"

/** Id of the n-th call of a response, counted from 0. */
export const callId = (response: number, n: number): string => `call_${response}_${n}`

const isUser = (item: ResponseItem): boolean => item.type === "message" && item.role === "user"

const isOwn = (item: ResponseItem): boolean =>
  item.type === "message"
    ? item.role === "assistant"
    : item.type !== "function_call_output" && item.type !== "custom_tool_call_output"

/** Number of items that the steps leave in the history; steps after an error are not performed. */
const itemCount = (steps: ReadonlyArray<OfflineStep>): number => {
  const error = steps.findIndex((step) => "error" in step)
  return (error === -1 ? steps : steps.slice(0, error)).filter(
    (step) => !("delay_ms" in step) && !("usage" in step),
  ).length
}

/**
 * Index of the response after the last one in the history. Beyond the script each item counts as a
 * response.
 */
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

/**
 * Number of conversations whose consecutive failures are counted at the same time; beyond it the
 * oldest repeats a response.
 */
const maxConversations = 256

/**
 * Creates the positions of all conversations in a script. `next` counts the response that it
 * returns as given.
 */
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
