/**
 * What of each conversation some listener of this dialect has been told: what nobody heard waits for the next listener
 * (§3.7), as it does in the original's one queue. Knows conversations that were made or taken up here, the latest ones.
 */
import type { SharedState } from "../../SharedState.ts"
import type { RateLimits } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { LruMap } from "../../internal/LruMap.ts"

/** Whoever makes a conversation listens to it soon, if at all. */
const maxKnown = 10_000

/** Rate limits of that many principals are kept, those of the ones that were updated last. */
const maxPrincipals = 1_000

interface Entry {
  /** First event that nobody was told of. */
  next: number
  listeners: number
}

interface ToldLimits {
  readonly conversationId: string
  readonly seq: number
  readonly rateLimits: RateLimits
  /** The event came while the listener that is told of it had everything before. */
  readonly live: boolean
}

export interface DeliveryCursor {
  /** Nobody who listens now or later needs to hear what came before that event. */
  readonly begin: (conversationId: string, next: number) => void
  /** Where a new listener begins that does not say it; undefined: with what comes now. */
  readonly from: (conversationId: string) => number | undefined
  readonly enter: (conversationId: string) => void
  readonly leave: (conversationId: string) => void
  readonly told: (conversationId: string, next: number) => void
  /** What the provider said last of its limits, in any conversation that is listened to. */
  readonly rateLimits: () => RateLimits | undefined
  /** It says this in that event. True when that is news: neither the same as before nor an older event told again. */
  readonly limits: (told: ToldLimits) => boolean
}

const make = (): ((principal: string) => DeliveryCursor) => {
  const known = new LruMap<string, Entry>(maxKnown)
  /** First events that may tell of limits anew. */
  const limited = new LruMap<string, number>(maxKnown)
  const rateLimits = new LruMap<string, RateLimits>(maxPrincipals)
  return (principal) => ({
    begin: (id, next) => {
      const entry = known.get(id)
      if (entry === undefined) known.put(id, { next, listeners: 0 })
      else if (entry.listeners === 0) entry.next = Math.max(entry.next, next)
    },
    from: (id) => {
      const entry = known.get(id)
      return entry === undefined || entry.listeners > 0 ? undefined : entry.next
    },
    enter: (id) => {
      const entry = known.get(id)
      if (entry !== undefined) entry.listeners++
    },
    leave: (id) => {
      const entry = known.get(id)
      if (entry !== undefined) entry.listeners--
    },
    told: (id, next) => {
      const entry = known.get(id)
      if (entry !== undefined && next > entry.next) entry.next = next
    },
    rateLimits: () => rateLimits.get(principal),
    limits: ({ conversationId, live, rateLimits: told, seq }) => {
      const first = limited.get(conversationId) ?? known.get(conversationId)?.next
      if (first === undefined ? !live : seq < first) return false
      limited.put(conversationId, seq + 1)
      if (Equal.equals(rateLimits.get(principal), told)) return false
      rateLimits.put(principal, told)
      return true
    },
  })
}

/** The cursors of one server, by principal. */
export const deliveryCursors: SharedState<(principal: string) => DeliveryCursor> = {
  make: () => Effect.sync(make),
}
