/** What the log of a new conversation begins with. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ConversationSettings } from "../../ConversationSettings.ts"
import { initialEvents } from "../../decider/InitialEvents.ts"
import type { ForkedEvent } from "../../recovery/Fork.ts"
import { importedLog } from "./ImportedLog.ts"
import { numberDrafts } from "../../decider/State.ts"

/** The first events of a new conversation, and the id of the conversation that they were copied from. */
export interface InitialLog {
  readonly events: ReadonlyArray<ForkedEvent>
  readonly forkedFrom?: string
}

/** What the settings of a new conversation say about its beginning. */
export interface Beginning {
  readonly history: ConversationSettings["history"]
  readonly resumePath: ConversationSettings["resumePath"]
}

/** What a new conversation begins with instead of nothing. */
export interface Origin {
  /** Id of the conversation that it continues, if it continues one. */
  readonly id?: string
  readonly log: (id: ConversationId) => ReadonlyArray<ForkedEvent>
}

/** A history that comes from another program, without times. Undefined without one. */
export const importedOrigin = (
  history: Beginning["history"],
  settings: ConversationSettings,
): Origin | undefined =>
  history === undefined
    ? undefined
    : { log: (id) => importedLog(id, settings, history).map((event) => ({ event })) }

/** A copy of the log of the origin; without one the first events of every conversation. */
export const initialLogOf = (
  id: ConversationId,
  settings: ConversationSettings,
  origin: Origin | undefined,
): InitialLog =>
  origin === undefined
    ? { events: numberDrafts(0, initialEvents(id, settings)).map((event) => ({ event })) }
    : { events: origin.log(id), ...defined({ forkedFrom: origin.id }) }
