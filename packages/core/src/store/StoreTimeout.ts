/**
 * Calls of a store in bounded time: one that does not answer holds up no conversation for ever. The call itself is not
 * interrupted, it may still be done; whoever asked goes by what it was told.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Exit } from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { StoreError } from "../StoreErrors.ts"

/** One call of the store. */
const storeBound = Duration.seconds(10)

type Operation = StoreError["operation"]

const slow = (operation: Operation) =>
  Effect.fail(
    new StoreError({ operation, reason: "Slow", message: "the store did not answer in time" }),
  )

const broken = (operation: Operation) => (defect: unknown) =>
  Effect.andThen(
    Effect.logError(`the store died (${operation})`, defect),
    Effect.fail(
      new StoreError({ operation, reason: "Other", message: "the store failed unexpectedly" }),
    ),
  )

/**
 * Waits for a call, at most ten seconds; the wait can be interrupted where its surroundings can. A store that dies is
 * one that fails.
 */
export const withinStoreTimeout = <A, E, R>(
  operation: Operation,
  call: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreError, R> =>
  Effect.suspend(() => Effect.catchDefect(call, broken(operation))).pipe(
    // A fiber of its own, also where there is no other: most stores answer at once, and nothing is timed.
    Effect.forkDetach({ startImmediately: true, uninterruptible: true }),
    Effect.flatMap((fiber) => {
      const exit: Exit<A, E | StoreError> | undefined = fiber.pollUnsafe()
      return (
        exit ??
        Effect.timeoutOrElse(Effect.interruptible(Fiber.join(fiber)), {
          duration: storeBound,
          orElse: () => slow(operation),
        })
      )
    }),
  )
