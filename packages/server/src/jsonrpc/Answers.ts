/**
 * Answers that no handler gives: errors about what cannot be served. Each is sent beside the reading, so that a client
 * that reads nothing does not hide its end of input from us (L9); so many that a bound is reached make the reading
 * wait, as every slow reader does (L6).
 */
import type { Connection } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

export interface Answers {
  /**
   * Returns at once while fewer than the bound wait, else when this one was accepted. Never fails. `after` runs when
   * it was accepted.
   */
  readonly say: (text: string, after?: Effect.Effect<void>) => Effect.Effect<void>
  /** Returns when all were accepted. */
  readonly settled: Effect.Effect<void>
}

/** What waits is given up at the end of the scope: nobody reads it any more. */
export const make = (
  send: Connection["send"],
  maxWaiting: number,
): Effect.Effect<Answers, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Set<Fiber.Fiber<void>>()
    const idle = Latch.makeUnsafe(true)
    yield* Effect.addFinalizer(() => Fiber.interruptAll(waiting))

    /** Once the other side is gone its end of input is on its way too, and ends everything. */
    const deliver = (text: string, after: Effect.Effect<void>) =>
      send([text]).pipe(
        Effect.andThen(after),
        Effect.catch(({ reason }) => Effect.logDebug(`answer dropped: ${reason}`)),
      )

    const say: Answers["say"] = (text, after = Effect.void) =>
      Effect.suspend(() => {
        const work = deliver(text, after)
        if (waiting.size >= maxWaiting) return work
        return Effect.map(Effect.forkDetach(work, { startImmediately: true }), (fiber) => {
          if (fiber.pollUnsafe() !== undefined) return
          waiting.add(fiber)
          idle.closeUnsafe()
          fiber.addObserver(() => {
            waiting.delete(fiber)
            if (waiting.size === 0) idle.openUnsafe()
          })
        })
      })

    return { say, settled: idle.await }
  })
