/**
 * Calls of a store with a time limit, so that a store that does not answer blocks no conversation for ever. The call
 * itself is not interrupted and may still be carried out after its caller got the error.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Exit } from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { StoreError } from "../StoreErrors.ts"

/** Longest wait for one call of the store. */
export const storeBound = Duration.seconds(10)

/** A call of the store, as its errors name it. */
export type Operation = StoreError["operation"]

/** The failure of a call that took longer than `storeBound`. */
export const slow = (operation: Operation): Effect.Effect<never, StoreError> =>
  Effect.fail(
    new StoreError({ operation, reason: "Slow", message: "the store did not answer in time" }),
  )

const broken = (operation: Operation) => (defect: unknown) =>
  Effect.andThen(
    Effect.logError(`store failed with a defect (${operation})`, defect),
    Effect.fail(
      new StoreError({ operation, reason: "Other", message: "the store failed unexpectedly" }),
    ),
  )

/**
 * Starts the call in a fiber that nothing interrupts, and resolves with it. A defect of the store becomes a `StoreError`
 * and is logged.
 */
export const startCall = <A, E, R>(
  operation: Operation,
  call: Effect.Effect<A, E, R>,
): Effect.Effect<Fiber.Fiber<A, E | StoreError>, never, R> =>
  Effect.suspend(() => Effect.catchDefect(call, broken(operation))).pipe(
    Effect.forkDetach({ startImmediately: true, uninterruptible: true }),
  )

/**
 * Resolves with the result of the call, or fails after ten seconds with a `StoreError` of reason `Slow`. The wait can be
 * interrupted if the caller can be. A defect of the store becomes a `StoreError` and is logged.
 */
export const withinStoreTimeout = <A, E, R>(
  operation: Operation,
  call: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreError, R> =>
  Effect.flatMap(startCall(operation, call), (fiber) => {
    // Most stores answer at once: then the fiber has ended here and no timer is needed.
    const exit: Exit<A, E | StoreError> | undefined = fiber.pollUnsafe()
    return (
      exit ??
      Effect.timeoutOrElse(Effect.interruptible(Fiber.join(fiber)), {
        duration: storeBound,
        orElse: () => slow(operation),
      })
    )
  })
