/** Evicts conversations when their idle time is over. One fiber per manager, which sleeps until the next one is due. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type { Entry } from "../Entry.ts"

/** What the sweep looks at, and how it evicts. */
export interface IdleSweepOptions {
  /** Conversations in memory, the least recently used first. */
  readonly byUse: ReadonlySet<Entry>
  /** Opened by the owner of `byUse` when it gets an entry; closed by the sweep when it finds none. */
  readonly someLoaded: Latch.Latch
  readonly maxIdleMs: number
  /** Evicts an idle conversation and leaves a busy one alone. */
  readonly evict: (entry: Entry) => Effect.Effect<unknown>
  /** Restarts the idle time, also of a conversation that was not evicted: it is due again after `maxIdleMs`. */
  readonly touch: (entry: Entry) => Effect.Effect<void>
}

/** Never ends and never fails. */
export const sweep = (options: IdleSweepOptions): Effect.Effect<never> =>
  Effect.gen(function* () {
    const [oldest] = options.byUse
    if (oldest === undefined) {
      options.someLoaded.closeUnsafe()
      return yield* options.someLoaded.await
    }
    const leftMs = oldest.usedAtMs + options.maxIdleMs - (yield* Clock.currentTimeMillis)
    if (leftMs > 0) return yield* Effect.sleep(leftMs)
    yield* options.evict(oldest)
    yield* options.touch(oldest)
  }).pipe(Effect.forever({ disableYield: true }))
