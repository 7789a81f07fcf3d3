/** Finds what has been idle for its time. One fiber per manager; it sleeps until the next one's time is over. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type { Entry } from "./Entry.ts"

/**
 * Never ends. `residents` are in the order of their use; `someLoaded` opens when there are any again. One that
 * `evict` leaves, being busy or because the store failed, is looked at again when another such time is over.
 */
export const sweep = (options: {
  readonly residents: ReadonlySet<Entry>
  readonly someLoaded: Latch.Latch
  readonly maxIdleMs: number
  readonly evict: (entry: Entry) => Effect.Effect<unknown>
  readonly touch: (entry: Entry) => Effect.Effect<void>
}): Effect.Effect<never> =>
  Effect.gen(function* () {
    const [oldest] = options.residents
    if (oldest === undefined) {
      options.someLoaded.closeUnsafe()
      return yield* options.someLoaded.await
    }
    const leftMs = oldest.usedAtMs + options.maxIdleMs - (yield* Clock.currentTimeMillis)
    if (leftMs > 0) return yield* Effect.sleep(leftMs)
    yield* options.evict(oldest)
    yield* options.touch(oldest)
  }).pipe(Effect.forever({ disableYield: true }))
