/**
 * Which events of each conversation were delivered to any listener of this dialect, on any connection. What was delivered
 * to none waits for the next listener, as it does in the single queue of the original. Knows the conversations that were
 * created, forked or resumed here, up to a number of them. Also keeps the rate limits that were reported last.
 */
import type { SharedState } from "../../Server.ts"
import type { RateLimits } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { LruMap } from "../../internal/LruMap.ts"

/** A client that creates a conversation soon attaches a listener to it, if it ever does; older ones are forgotten. */
const maxKnown = 10_000

/** Number of principals whose rate limits are kept; those that were updated least recently are forgotten. */
const maxPrincipals = 1_000

interface Entry {
  /** Number of the first event that was not delivered to any listener. */
  next: number
  /** Number of the attached listeners. */
  listeners: number
}

/** Rate limits that an event reports. */
interface ReportedLimits {
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
  /** The rate limits that a provider reported last, in any conversation of the principal with a listener. */
  readonly rateLimits: () => RateLimits | undefined
  /** Keeps these rate limits. True if they are new: neither the same as before nor of an older event that is replayed. */
  readonly limits: (reported: ReportedLimits) => boolean
}

const make = (): ((principal: string) => DeliveryCursor) => {
  const known = new LruMap<string, Entry>(maxKnown)
  /** By conversation, number of the first event that can report new limits. */
  const limited = new LruMap<string, number>(maxKnown)
  const rateLimits = new LruMap<string, RateLimits>(maxPrincipals)
  return (principal) => ({
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
    rateLimits: () => rateLimits.get(principal),
    limits: ({ conversationId, live, rateLimits: reported, seq }) => {
      const first = limited.get(conversationId) ?? known.get(conversationId)?.next
      if (first === undefined ? !live : seq < first) return false
      limited.put(conversationId, seq + 1)
      if (Equal.equals(rateLimits.get(principal), reported)) return false
      rateLimits.put(principal, reported)
      return true
    },
  })
}

/** The cursors of one server, by principal. */
export const deliveryCursors: SharedState<(principal: string) => DeliveryCursor> = {
  make: () => Effect.sync(make),
}
