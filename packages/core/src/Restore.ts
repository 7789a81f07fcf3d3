/** The state of a conversation that was kept somewhere, as the fold of its log. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"
import { isQuestion, withdrawnEvent } from "./ApprovalEvents.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { type Draft, initial, project, type State } from "./ConversationState.ts"
import { keep, none, type Receipts } from "./Receipts.ts"

/** What a conversation needs to go on. `events` are its durable ones, `events[n].seq === n`. */
export interface Existing {
  readonly events: ReadonlyArray<Event>
  /** Of a log without them every id that occurs in it counts as taken. */
  readonly receipts?: Receipts
}

/** No later submission gets an id that occurs in the log: each of its turns would seem to end twice (L5). */
const receiptsOf = (events: ReadonlyArray<Event>): Receipts => {
  const ids = new Set(events.flatMap(({ id }) => (id === "" ? [] : [id])))
  let receipts = none
  for (const id of ids) receipts = keep(receipts, id, { id, disposition: "started" })
  return receipts
}

export const restore = (settings: ConversationSettings, existing: Existing): State =>
  existing.events.reduce(project, {
    ...initial(settings),
    receipts: existing.receipts ?? receiptsOf(existing.events),
  })

/** What closes a turn and its questions that the log leaves open: nobody runs it any more (L5, L7, L11). */
export const closeUnfinished = (
  state: State,
  questions: ReadonlyArray<Event>,
): ReadonlyArray<Draft> =>
  state.turn === undefined
    ? []
    : [
        ...questions.flatMap(({ id, msg }) =>
          isQuestion(msg) ? [{ id, msg: withdrawnEvent(msg) }] : [],
        ),
        { id: state.turn.id, msg: { type: "turn_aborted", reason: "interrupted" } },
      ]
