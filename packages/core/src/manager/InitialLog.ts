/** What the log of a new conversation begins with. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { initialEvents } from "../decider/InitialEvents.ts"
import { numberDrafts } from "../decider/State.ts"

/** The first events of a new conversation, and the id of the conversation that they were copied from. */
export interface InitialLog {
  readonly events: ReadonlyArray<Event>
  readonly forkedFrom?: string
}

/** The conversation that a new one continues: its id, and its log as the beginning of the new one's. */
export interface Origin {
  readonly id: string
  readonly log: (id: ConversationId) => ReadonlyArray<Event>
}

/** A copy of the log of the origin; without one the first events of every conversation. */
export const initialLogOf = (
  id: ConversationId,
  settings: ConversationSettings,
  origin: Origin | undefined,
): InitialLog =>
  origin === undefined
    ? { events: numberDrafts(0, initialEvents(id, settings)) }
    : { events: origin.log(id), forkedFrom: origin.id }
