/**
 * Statements that are tried again while the database cannot be reached, for as long as the callers of a store wait. Each
 * attempt here may be carried out twice without harm: what it finds the second time says so.
 */
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { isUnknownOutcome, mayPass, type Operation, storeError } from "./SqlFaults.ts"

/** How long the store tries. */
export interface Patience {
  /** Longest time of one attempt; its statement is cancelled then. */
  readonly attempt: Duration.Duration
  /** Time after which a failed attempt is the last one. */
  readonly total: Duration.Duration
}

/** Callers of a store wait for 10 seconds; the last attempt must end before. */
export const defaultPatience: Patience = {
  attempt: Duration.seconds(4),
  total: Duration.seconds(5),
}

const firstDelay = Duration.millis(25)
const longestDelay = Duration.millis(500)

const silent = Effect.fail(
  new SqlError({
    reason: new ConnectionError({ cause: undefined, message: "no answer in time" }),
  }),
)

const mayPassLater = (error: unknown): boolean => error instanceof SqlError && mayPass(error)

/** What an attempt is given. */
export interface Attempt {
  /** True when an earlier attempt failed in such a way that it may have been carried out. */
  readonly mayBeDone: boolean
}

const reading: ReadonlyArray<Operation> = ["read", "list", "metadata"]

/** The error of the last attempt. One that may have changed something has the reason that says so. */
const lastError = (operation: Operation, error: SqlError, mayBeDone: boolean): StoreError => {
  const mapped = storeError(operation, error)
  if (!mayBeDone || mapped.reason !== "Unreachable" || reading.includes(operation)) return mapped
  const message = `${mapped.message}; whether the last request was carried out is not known`
  return new StoreError({ operation, reason: "Slow", message })
}

/**
 * Runs the attempt, and again while the database cannot be reached. The last failure of a change that may have been carried
 * out has the reason `Slow`.
 */
export const retrying = <A, E, R>(
  operation: Operation,
  patience: Patience,
  attempt: (attempt: Attempt) => Effect.Effect<A, E | SqlError, R>,
): Effect.Effect<A, Exclude<E, SqlError> | StoreError, R> =>
  Effect.suspend(() => {
    let mayBeDone = false
    const once = Effect.suspend(() => attempt({ mayBeDone })).pipe(
      // A transaction whose connection is lost dies with the error of its rollback.
      Effect.catchDefect((defect) =>
        defect instanceof SqlError ? Effect.fail(defect) : Effect.die(defect),
      ),
      Effect.timeoutOrElse({ duration: patience.attempt, orElse: () => silent }),
      Effect.tapError((error) =>
        Effect.sync(() => {
          if (error instanceof SqlError && isUnknownOutcome(error)) mayBeDone = true
        }),
      ),
    )
    const repeated = Effect.retry(once, {
      schedule: Schedule.min([
        Schedule.exponential(firstDelay),
        Schedule.spaced(longestDelay),
      ]).pipe(Schedule.upTo({ duration: patience.total })),
      while: mayPassLater,
    })
    return Effect.mapError(repeated, (error) =>
      error instanceof SqlError ? lastError(operation, error, mayBeDone) : error,
    ) as Effect.Effect<A, Exclude<E, SqlError> | StoreError, R>
  })
