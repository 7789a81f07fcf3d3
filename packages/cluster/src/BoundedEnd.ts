/**
 * Ends that are waited for in bounded time. A database or a node that takes bytes and responds to nothing keeps a connection
 * from being closed in order, and the cleanup of a connection cannot be interrupted.
 *
 * What takes longer goes on behind those that have waited for it, and ends with the process at the latest.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** What ends, and in which time. */
export interface BoundedEnd {
  /** What ends, as the log names it. */
  readonly name: string
  /** Longest wait for its end. */
  readonly within: Duration.Input
}

/** Resolves when the end is through, or after the bound; then a warning says so. It cannot be interrupted otherwise. */
export const bounded = (
  end: Effect.Effect<void>,
  { name, within }: BoundedEnd,
): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.forkDetach(end, { startImmediately: true }), (ending) =>
      Effect.timeoutOrElse(Fiber.join(ending), {
        duration: within,
        orElse: () =>
          Effect.logWarning(
            `${name} did not end within ${Duration.format(Duration.fromInputUnsafe(within))}`,
          ),
      }),
    ),
  )

/** The layer, for whose end those around it wait no longer than that. */
export const boundedLayer = <A, E, R>(
  layer: Layer.Layer<A, E, R>,
  options: BoundedEnd,
): Layer.Layer<A, E, R> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => bounded(Scope.close(scope, exit), options))
      return yield* Layer.buildWithScope(layer, scope)
    }),
  )
