/**
 * Notifies the user of completed turns, independently of the conversations: a turn never waits for it. Few
 * notifications run at once and few wait; further ones are dropped and their number is logged. When the scope closes,
 * the running and waiting ones have a second to end, and are then interrupted.
 */
import type { CompletedTurn, OnTurnCompleted } from "@colloquy/core/decider/CompletedTurn"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

/** Notifications that run at once. */
export const maxAtOnce = 4
/** Notifications that wait; further ones are dropped. */
export const maxWaiting = 64

const shutdownTime = Duration.seconds(1)

/**
 * Returns the function to be called with each completed turn.
 *
 * @param deliver sends one notification, and logs its own failure
 */
export const make = Effect.fnUntraced(function* (
  deliver: (turn: CompletedTurn) => Effect.Effect<void>,
): Effect.fn.Return<OnTurnCompleted, never, Scope.Scope> {
  const queue = yield* Queue.dropping<CompletedTurn, Cause.Done>(maxWaiting)
  let dropped = 0

  const logDropped = Effect.suspend(() => {
    const count = dropped
    dropped = 0
    return count === 0
      ? Effect.void
      : Effect.logWarning(
          `${count} notifications of completed turns were dropped: too many were waiting`,
        )
  })

  const one = Effect.flatMap(Queue.take(queue), (turn) =>
    Effect.andThen(logDropped, deliver(turn)).pipe(
      Effect.catchDefect((defect) => Effect.logError("a notification failed", defect)),
    ),
  )
  // Ends when the queue has ended and is empty.
  const work = Effect.ignore(Effect.forever(one))

  const workers = yield* Effect.replicateEffect(
    Effect.forkScoped(Effect.interruptible(work)),
    maxAtOnce,
  )
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Queue.end(queue),
      Effect.timeoutOption(Effect.interruptible(Fiber.awaitAll(workers)), shutdownTime),
    ),
  )

  return (turn) => {
    if (!Queue.offerUnsafe(queue, turn)) dropped++
  }
})
