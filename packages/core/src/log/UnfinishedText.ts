/**
 * The answer text of a running turn that was streamed and that no finished message repeats: what is lost unless the end
 * of the turn records it. Pure.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { MessageItem } from "@colloquy/protocol/ResponseItem"
import { messageEvents } from "./MessageEvents.ts"

export interface UnfinishedText {
  readonly text: string
  /** True once its response is over: the first text of the next one replaces it. */
  readonly isReplaced: boolean
}

const afterOne = (
  before: UnfinishedText | undefined,
  msg: EventMsg,
): UnfinishedText | undefined => {
  switch (msg.type) {
    case "agent_message_delta":
      return before === undefined || before.isReplaced
        ? { text: msg.delta, isReplaced: false }
        : { text: before.text + msg.delta, isReplaced: false }
    case "stream_error":
    case "token_count":
      return before === undefined ? undefined : { ...before, isReplaced: true }
    case "agent_message":
      return undefined
    default:
      return before
  }
}

/** What is unfinished once these events of the turn have followed. */
export const unfinishedAfter = (
  before: UnfinishedText | undefined,
  messages: ReadonlyArray<EventMsg>,
): UnfinishedText | undefined => messages.reduce(afterOne, before)

/** The events that record it as a message, for the model's history, for listeners and for the store. */
export const unfinishedEvents = (
  unfinished: UnfinishedText | undefined,
): ReadonlyArray<EventMsg> => {
  if (unfinished === undefined || unfinished.text === "") return []
  const item: MessageItem = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: unfinished.text }],
  }
  return messageEvents(item)
}
