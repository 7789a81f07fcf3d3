/**
 * The log of a new conversation that begins with what another program has said to a model and heard from it: one ended turn
 * with the id `history`. Pure.
 */
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ContentItem, ResponseItem } from "@colloquy/protocol/ResponseItem"
import type { ConversationSettings } from "../../ConversationSettings.ts"
import { initialEvents } from "../../decider/InitialEvents.ts"
import { numberDrafts } from "../../decider/State.ts"

const turnId = "history"

const textOf = (content: ReadonlyArray<ContentItem>): string =>
  content.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n")

/** What listeners are shown of an item. */
const shown = (item: ResponseItem): ReadonlyArray<EventMsg> => {
  if (item.type !== "message") return []
  const text = textOf(item.content)
  if (text === "") return []
  if (item.role === "user") return [{ type: "user_message", message: text, kind: "plain" }]
  return item.role === "assistant" ? [{ type: "agent_message", message: text }] : []
}

const isAnswer = (msg: EventMsg) => msg.type === "agent_message"

/** The first events of every conversation, then those of the history. */
export const importedLog = (
  id: ConversationId,
  settings: ConversationSettings,
  history: ReadonlyArray<ResponseItem>,
): ReadonlyArray<Event> => {
  const messages = history.flatMap((item): ReadonlyArray<EventMsg> => [
    { type: "raw_response_item", item },
    ...shown(item),
  ])
  const last = messages.findLast(isAnswer)
  const turn: ReadonlyArray<EventMsg> = [
    { type: "task_started", model_context_window: settings.contextWindow },
    ...messages,
    { type: "task_complete", last_agent_message: last?.message ?? null },
  ]
  return numberDrafts(0, [
    ...initialEvents(id, settings),
    ...turn.map((msg) => ({ id: turnId, msg })),
  ])
}
