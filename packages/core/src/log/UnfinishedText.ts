/**
 * The streamed texts of a running turn that no finished item repeats: messages and sections of reasoning. The end of the
 * turn records them; otherwise they would be lost, and a log that is read back would lack items that listeners have seen.
 * Which texts are open is decided by the fold of items (`Items.ts`). Pure.
 */
import { eventInfo, type EventMsg, isTextDelta } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { MessageItem } from "@colloquy/protocol/ResponseItem"
import type { TextItem } from "./Item.ts"
import { firstItemId, initialItems, type ItemsState, step, textTypes } from "./Items.ts"
import { continuedText } from "./OpenText.ts"
import { messageEvents } from "./MessageEvents.ts"

/** The state of the fold of items, with the texts of one turn only. */
export type UnfinishedText = Pick<ItemsState, "texts">

const concernsTexts = (msg: EventMsg): boolean =>
  isTextDelta(msg) || eventInfo(msg.type).completes.length > 0

/**
 * The texts after a piece that starts the first one, or continues the only one: what the fold of items gives, without its
 * other steps, since most events of a turn are such pieces. Undefined where the fold has to decide.
 */
const continued = (
  unfinished: UnfinishedText | undefined,
  turnId: SubmissionId,
  msg: EventMsg,
): UnfinishedText | undefined => {
  if (!isTextDelta(msg) || msg.delta === "") return undefined
  if (unfinished === undefined) {
    const type = textTypes[msg.type]
    const id = firstItemId(turnId, type)
    const item: TextItem = { type, id, turnId, status: "running", text: msg.delta }
    return { texts: [{ item, isClosed: false, isReplaced: false }] }
  }
  const only = continuedText(unfinished.texts, turnId, textTypes[msg.type], msg.delta)
  return only === undefined ? undefined : { texts: [only] }
}

/** The unfinished texts after these events of the turn; undefined while there are none. */
export const unfinishedAfter = (
  before: UnfinishedText | undefined,
  turnId: SubmissionId,
  messages: ReadonlyArray<EventMsg>,
): UnfinishedText | undefined =>
  messages.reduce((unfinished, msg) => {
    if (unfinished === undefined ? !isTextDelta(msg) : !concernsTexts(msg)) return unfinished
    const more = continued(unfinished, turnId, msg)
    if (more !== undefined) return more
    const { state } = step({ ...initialItems, ...unfinished }, { id: turnId, msg })
    return state.texts.length === 0 ? undefined : { texts: state.texts }
  }, before)

const eventsOf = ({ text, type }: TextItem): ReadonlyArray<EventMsg> => {
  switch (type) {
    case "agent_message": {
      const content = [{ type: "output_text" as const, text }]
      const item: MessageItem = { type: "message", role: "assistant", content }
      return messageEvents(item)
    }
    // A provider refuses reasoning that is not whole, so the history does not get it.
    case "reasoning":
      return [{ type: "agent_reasoning", text }]
    case "raw_reasoning":
      return [{ type: "agent_reasoning_raw_content", text }]
  }
}

/**
 * The events that record the texts, in the order in which they began: for listeners and for the store, and for the history
 * those of messages.
 */
export const unfinishedEvents = (unfinished: UnfinishedText | undefined): ReadonlyArray<EventMsg> =>
  (unfinished?.texts ?? []).flatMap(({ item }) => eventsOf(item))
