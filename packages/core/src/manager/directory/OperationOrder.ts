/**
 * Lets the operations of one kind on one conversation follow one another, so that each finds what the one before it has left:
 * removals, archivings and unarchivings, or repeated forks with one id. A wait can be interrupted and ends within a bound,
 * also where a tool of the conversation never stops.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Operation, slow } from "../../store/StoreTimeout.ts"
import type { StoreError } from "../../StoreErrors.ts"

/** Longest wait for the one that runs: three calls of the store, each of at most ten seconds. */
const longestWait = Duration.seconds(30)

/** See the header. One per manager and kind. */
export class OperationOrder {
  /** By id of the conversation; completed when the operation has ended. */
  private readonly running = new Map<string, Deferred.Deferred<void>>()

  /** Runs `work`, which cannot be interrupted unless it says so, once no other one of the conversation runs. */
  next<A, E>(
    id: string,
    operation: Operation,
    work: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | StoreError> {
    return Effect.suspend((): Effect.Effect<A, E | StoreError> => {
      const earlier = this.running.get(id)
      if (earlier !== undefined) {
        const waiting = Effect.timeoutOrElse(Effect.interruptible(Deferred.await(earlier)), {
          duration: longestWait,
          orElse: () => slow(operation),
        })
        return Effect.andThen(waiting, this.next(id, operation, work))
      }
      const done = Deferred.makeUnsafe<void>()
      this.running.set(id, done)
      const end = Effect.suspend(() => {
        this.running.delete(id)
        return Deferred.succeed(done, undefined)
      })
      return Effect.ensuring(work, end)
    }).pipe(Effect.uninterruptible)
  }
}
