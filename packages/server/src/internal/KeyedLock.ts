/** Mutual exclusion by key. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Shared from "./Shared.ts"

/**
 * Runs the effect while no other effect with that key runs. Effects wait in the order of their calls, and can be
 * interrupted while they wait.
 */
export type KeyedLock = <A, E, R>(
  key: string,
  effect: Effect.Effect<A, E, R>,
) => Effect.Effect<A, E, R>

/** Creates a lock. It keeps no state for a key that is not in use. */
export const make: Effect.Effect<KeyedLock, never, Scope.Scope> = Effect.map(
  Shared.make<Semaphore.Semaphore>(),
  (shared): KeyedLock =>
    (key, effect) =>
      Effect.scopedWith((scope) =>
        Effect.flatMap(Scope.provide(shared(key, Semaphore.make(1)), scope), (one) =>
          one.withPermit(effect),
        ),
      ),
)
