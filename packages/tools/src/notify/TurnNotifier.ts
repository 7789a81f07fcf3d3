/**
 * Delivers completed turns to what notifies the user of them, beside the conversations: a turn never waits for it. Few are
 * delivered at once and few wait; what comes beyond that is dropped and the number is logged. When the scope closes, those
 * that were taken have a second to end, and are interrupted then.
 */
import type { CompletedTurn, OnTurnCompleted } from "@colloquy/core/decider/CompletedTurn"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

export const maxAtOnce = 4
export const maxWaiting = 64

const shutdownTime = Duration.seconds(1)

/** @param deliver logs what goes wrong with one */
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
      : Effect.logWarning(`${count} completed turns were not notified of: too many were waiting`)
  })

  const one = Effect.flatMap(Queue.take(queue), (turn) =>
    Effect.andThen(logDropped, deliver(turn)).pipe(
      Effect.catchDefect((defect) => Effect.logError("a notification failed", defect)),
    ),
  )
  // The queue has ended, and nothing is left in it.
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
