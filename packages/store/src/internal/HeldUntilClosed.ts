/**
 * Resources of the surrounding scope that are held as long as a conversation is in memory. `Effect.acquireRelease` would keep
 * the effect that acquires, the services and the stack of the caller alive for that time: some kilobytes for each.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/** Acquires without being interrupted; `release` runs when the scope closes and needs no services. */
export const heldUntilClosed = <A, E, R>(
  acquire: Effect.Effect<A, E, R>,
  release: (held: A) => Effect.Effect<void>,
): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.scope, (scope) =>
      Effect.tap(acquire, (held) => addRelease(scope, release(held))),
    ),
  )

/** By itself: a closure keeps everything alive that another closure of the same function uses. */
const addRelease = (scope: Scope.Scope, release: Effect.Effect<void>): Effect.Effect<void> =>
  Scope.addFinalizer(scope, release)
