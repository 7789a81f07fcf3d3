/**
 * Which events of a log are still part of the conversation: `thread_rolled_back` drops the end of it, and nothing is ever
 * removed from the log. Every fold that tells what the conversation contains starts from `withoutReverted`. Pure.
 */
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"

type Logged = Pick<Event, "id" | "msg">

/** The index where each user message starts: at its turn if it started one, otherwise at its item. */
export const userMessageStarts = (events: ReadonlyArray<Logged>): ReadonlyArray<number> =>
  events.flatMap(({ msg }, i) => {
    if (msg.type !== "user_message" || (msg.kind ?? "plain") !== "plain") return []
    const item = events[i - 1]?.msg.type === "raw_response_item" ? i - 1 : i
    const first = events[item - 1]?.msg.type === "entered_review_mode" ? item - 1 : item
    return [events[first - 1]?.msg.type === "task_started" ? first - 1 : first]
  })

const startOf = (events: ReadonlyArray<Logged>, turnId: string): number =>
  events.findIndex(({ id, msg }) => id === turnId && msg.type === "task_started")

/** The original's event has no id: it counts messages of the user, from the last one. */
const firstDropped = (
  events: ReadonlyArray<Logged>,
  { num_turns, turn_id }: EventOf<"thread_rolled_back">,
): number => {
  if (turn_id !== undefined) return startOf(events, turn_id)
  const starts = userMessageStarts(events)
  return num_turns === 0 ? -1 : (starts[Math.max(0, starts.length - num_turns)] ?? -1)
}

/** The events without those that a later `thread_rolled_back` dropped. The same array if nothing was dropped. */
export const withoutReverted = <E extends Logged>(log: ReadonlyArray<E>): ReadonlyArray<E> => {
  if (!log.some(({ msg }) => msg.type === "thread_rolled_back")) return log
  const events: Array<E> = []
  for (const event of log) {
    if (event.msg.type === "thread_rolled_back") {
      const from = firstDropped(events, event.msg)
      if (from !== -1) events.length = from
    }
    events.push(event)
  }
  return events
}

/** Number of user messages from the turn on; undefined if the conversation contains no such turn. */
export const userMessagesFrom = (
  log: ReadonlyArray<Logged>,
  turnId: string,
): number | undefined => {
  const events = withoutReverted(log)
  const from = startOf(events, turnId)
  return from === -1 ? undefined : userMessageStarts(events.slice(from)).length
}
