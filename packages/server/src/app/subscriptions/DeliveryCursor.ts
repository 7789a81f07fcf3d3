/**
 * Which events of each conversation were delivered to any listener of this dialect, on any connection. What was delivered
 * to none waits for the next listener, as it does in the single queue of the original. Knows the conversations that were
 * created, forked or resumed here, up to a number of them. Also keeps the rate limits that were reported last.
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { RateLimits } from "@colloquy/core/ModelClient"
import * as Equal from "effect/Equal"
import { LruMap } from "../../internal/LruMap.ts"

/** A client that creates a conversation soon attaches a listener to it, if it ever does; older ones are forgotten. */
const maxKnown = 10_000

interface Entry {
  /** Number of the first event that was not delivered to any listener. */
  next: number
  /** Number of the attached listeners. */
  listeners: number
}

/** Rate limits that an event reports. */
export interface ReportedLimits {
  readonly conversationId: string
  /** Number of the event. */
  readonly seq: number
  readonly rateLimits: RateLimits
  /** The listener that gets the event had been sent everything before it. */
  readonly live: boolean
}

/** See the header. */
export interface DeliveryCursor {
  /**
   * The conversation is in use from now on, and its events before `next` need not be delivered. Does not move backwards,
   * and does nothing while the conversation has listeners.
   */
  readonly start: (conversationId: string, next: number) => void
  /** First event for a new listener that does not name one; undefined: only what happens from now on. */
  readonly from: (conversationId: string) => number | undefined
  /** A listener was attached. */
  readonly attached: (conversationId: string) => void
  /** A listener was detached. */
  readonly detached: (conversationId: string) => void
  /** Every event before `next` was delivered to a listener. */
  readonly delivered: (conversationId: string, next: number) => void
  /** The rate limits that a provider reported last, in any conversation with a listener. */
  readonly rateLimits: () => RateLimits | undefined
  /** Keeps these rate limits. True if they are new: neither the same as before nor of an older event that is replayed. */
  readonly limits: (reported: ReportedLimits) => boolean
}

const make = (): DeliveryCursor => {
  const known = new LruMap<string, Entry>(maxKnown)
  /** By conversation, number of the first event that can report new limits. */
  const limited = new LruMap<string, number>(maxKnown)
  let rateLimits: RateLimits | undefined
  return {
    start: (id, next) => {
      const entry = known.get(id)
      if (entry === undefined) known.put(id, { next, listeners: 0 })
      else if (entry.listeners === 0) entry.next = Math.max(entry.next, next)
    },
    from: (id) => {
      const entry = known.get(id)
      return entry === undefined || entry.listeners > 0 ? undefined : entry.next
    },
    attached: (id) => {
      const entry = known.get(id)
      if (entry !== undefined) entry.listeners++
    },
    detached: (id) => {
      const entry = known.get(id)
      if (entry !== undefined) entry.listeners--
    },
    delivered: (id, next) => {
      const entry = known.get(id)
      if (entry !== undefined && next > entry.next) entry.next = next
    },
    rateLimits: () => rateLimits,
    limits: ({ conversationId, live, rateLimits: reported, seq }) => {
      const first = limited.get(conversationId) ?? known.get(conversationId)?.next
      if (first === undefined ? !live : seq < first) return false
      limited.put(conversationId, seq + 1)
      if (Equal.equals(rateLimits, reported)) return false
      rateLimits = reported
      return true
    },
  }
}

const known = new WeakMap<ConversationManager["Service"], DeliveryCursor>()

/** Of the manager's conversations: connections share it as they share the manager. */
export const deliveryCursorOf = (manager: ConversationManager["Service"]): DeliveryCursor => {
  const cursor = known.get(manager) ?? make()
  known.set(manager, cursor)
  return cursor
}
