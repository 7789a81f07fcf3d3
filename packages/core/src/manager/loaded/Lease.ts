/** The end of the lease of a loaded conversation (L16), in bounded time. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** A store that takes longer than this to release a lease is left to finish by itself. */
const leaseReleaseTimeout = Duration.seconds(10)

/** Releases the lease. Resolves when the store has done so, or after the time limit. Never fails. */
export const closeLease = (lease: Scope.Closeable): Effect.Effect<void> =>
  Effect.interruptible(Scope.close(lease, Exit.void)).pipe(
    Effect.timeoutOrElse({
      duration: leaseReleaseTimeout,
      orElse: () =>
        Effect.logWarning(
          `lease abandoned: the store did not release it within ${Duration.format(leaseReleaseTimeout)}`,
        ),
    }),
  )
