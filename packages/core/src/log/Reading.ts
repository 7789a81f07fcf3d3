/**
 * Which turns of a conversation the user has not seen, as a fold of its events. A turn is unread once it has an answer, and
 * until the user marks the conversation as read (`read_marked`), or drops turns, which nobody does unseen. Pure.
 */
import type { Event } from "@colloquy/protocol/EventMsg"

/** What is known of the reading of a conversation; it is undefined before the first turn with input. */
export interface Reading {
  /** Number of the last event that has changed the reading. -1: none yet. */
  readonly revision: number
  /** Id of the first turn with input since everything was read. */
  readonly since?: string
  /** The first unread turn, by its id; without one, the conversation is unread from its beginning. Absent: all is read. */
  readonly unread?: { readonly turnId?: string }
}

const unreadFrom = (turnId: string | undefined): NonNullable<Reading["unread"]> =>
  turnId === undefined ? {} : { turnId }

/** The reading after an event. The same value if the event does not change it. */
export const stepReading = (
  reading: Reading | undefined,
  { id, msg, seq }: Event,
): Reading | undefined => {
  switch (msg.type) {
    case "user_message":
      return reading?.since === undefined && (msg.kind ?? "plain") === "plain"
        ? { revision: -1, ...reading, since: id }
        : reading
    case "task_complete": {
      if (msg.last_agent_message === null) return reading
      const since = reading?.since ?? id
      return { revision: seq, since, unread: reading?.unread ?? unreadFrom(since) }
    }
    case "read_marked":
      return msg.read
        ? { revision: seq }
        : { ...reading, revision: seq, unread: unreadFrom(reading?.since) }
    case "thread_rolled_back":
      return { revision: seq }
    default:
      return reading
  }
}

/** True where the conversation is marked as the op wants it already. */
export const isMarked = (reading: Reading | undefined, read: boolean): boolean =>
  (reading?.unread === undefined) === read
