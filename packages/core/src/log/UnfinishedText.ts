/**
 * The streamed answer text of a running turn that no finished message repeats. The end of the turn records it; otherwise
 * it would be lost. Pure.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { MessageItem } from "@colloquy/protocol/ResponseItem"
import { messageEvents } from "./MessageEvents.ts"

/** Streamed text without a finished message. */
export interface UnfinishedText {
  readonly text: string
  /** True once its response has ended: the first text of the next response replaces it. */
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

/** The unfinished text after these events of the turn. */
export const unfinishedAfter = (
  before: UnfinishedText | undefined,
  messages: ReadonlyArray<EventMsg>,
): UnfinishedText | undefined => messages.reduce(afterOne, before)

/** The events that record the text as a message, for the history, for listeners and for the store. */
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
