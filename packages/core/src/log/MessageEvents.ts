/** The events that record a message of the model, and the text of it. Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { MessageItem, ResponseItem } from "@colloquy/protocol/ResponseItem"

/** Each text part of an assistant message, in order. */
const assistantTexts = (item: ResponseItem): ReadonlyArray<string> =>
  item.type === "message" && item.role === "assistant"
    ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : []))
    : []

/** The text a finished item leaves as the turn's answer so far. */
export const answerOf = (item: ResponseItem): string | undefined => assistantTexts(item).at(-1)

/** The record of a message of the model, then the events for its listeners. */
export const messageEvents = (item: MessageItem): ReadonlyArray<EventMsg> => [
  { type: "raw_response_item", item },
  ...assistantTexts(item).map((message): EventMsg => ({ type: "agent_message", message })),
]
