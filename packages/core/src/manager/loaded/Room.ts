/**
 * The room for conversations in memory: how many there are, and which of them was not used for the longest time. Knows no
 * placement and evicts nothing itself.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Semaphore from "effect/Semaphore"
import { TooManyConversations } from "../../ConversationErrors.ts"
import type { Entry } from "../Entry.ts"
import { sweep } from "./IdleSweep.ts"

/** The room of one manager. */
export class Room {
  private readonly maxLoaded: number
  /** Evicts an idle conversation and leaves a busy one alone. */
  private readonly evict: (entry: Entry) => Effect.Effect<unknown>
  private readonly evictionLock = Semaphore.makeUnsafe(1)
  private readonly someLoaded = Latch.makeUnsafe()
  private readonly byUse = new Set<Entry>()
  /** Size of `byUse`, and the conversations for which room is reserved. */
  private reserved = 0

  constructor(maxLoaded: number, evict: (entry: Entry) => Effect.Effect<unknown>) {
    this.maxLoaded = maxLoaded
    this.evict = evict
  }

  /** Reserves room for one conversation, evicting the least recently used idle one if needed. */
  reserve(): Effect.Effect<void, TooManyConversations> {
    return Effect.suspend(() => {
      if (this.reserved >= this.maxLoaded) {
        return this.evictionLock.withPermit(this.evictForRoom())
      }
      this.reserved++
      return Effect.void
    })
  }

  /** Gives back what was reserved for a conversation that could not be loaded. */
  cancel(): void {
    this.reserved--
  }

  /** The conversation takes the room that was reserved for it. */
  add(entry: Entry): void {
    this.byUse.add(entry)
    this.someLoaded.openUnsafe()
  }

  /** The conversation is in memory no more. Does nothing for one that was not. */
  delete(entry: Entry): void {
    if (this.byUse.delete(entry)) this.reserved--
  }

  /** Restarts the idle time of a conversation in memory. */
  touch(entry: Entry): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (nowMs) => this.touchAt(entry, nowMs))
  }

  /** As `touch`, where the time is known. */
  touchAt(entry: Entry, nowMs: number): void {
    if (!this.byUse.delete(entry)) return
    this.byUse.add(entry)
    entry.usedAtMs = nowMs
  }

  /** Conversations in memory or being evicted, the least recently used first. */
  get all(): Iterable<Entry> {
    return this.byUse
  }

  /** Evicts every conversation when its idle time is over. Never ends. */
  sweep(maxIdleMs: number): Effect.Effect<never> {
    const { byUse, evict, someLoaded } = this
    return sweep({ byUse, someLoaded, maxIdleMs, evict, touch: (entry) => this.touch(entry) })
  }

  private evictForRoom(): Effect.Effect<void, TooManyConversations> {
    return Effect.gen({ self: this }, function* () {
      const { byUse, evict, maxLoaded } = this
      // Conversations that are used meanwhile move to the end of the set: each is looked at once.
      let left = byUse.size
      for (const entry of byUse) {
        if (left-- === 0) break
        yield* evict(entry)
        if (this.reserved < maxLoaded) {
          this.reserved++
          return
        }
      }
      return yield* new TooManyConversations({ limit: "loaded", maxConversations: maxLoaded })
    })
  }
}
