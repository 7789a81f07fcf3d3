/** The events that record a message of the model, and the text of it. Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { MessageItem, ResponseItem } from "@colloquy/protocol/ResponseItem"

/** The text parts of an assistant message, in order. */
const assistantTexts = (item: ResponseItem): ReadonlyArray<string> =>
  item.type === "message" && item.role === "assistant"
    ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : []))
    : []

/** The answer of the turn after this item, if the item contains one. */
export const answerOf = (item: ResponseItem): string | undefined => assistantTexts(item).at(-1)

/** The record of a message of the model, then the events for listeners. */
export const messageEvents = (item: MessageItem): ReadonlyArray<EventMsg> => [
  { type: "raw_response_item", item },
  ...assistantTexts(item).map((message): EventMsg => ({ type: "agent_message", message })),
]
