/**
 * Responses that no handler gives: errors about what cannot be served, and the responses to a batch. Each is sent beside the
 * reading of the connection, so that a client that does not read does not hide its end of input (L9). When as many wait as
 * the bound allows, the reading waits too, as with every slow reader (L6).
 */
import type { Connection } from "@colloquy/protocol/Connection"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

interface AnswerOptions {
  /** Runs when the text was accepted. */
  readonly after?: Effect.Effect<void>
  /** The request that the text responds to; of a batch its first request. */
  readonly relatedTo?: RequestId
}

/** Collects the texts of responses and sends them in order. */
export interface Answers {
  /** Returns at once while fewer than the bound wait, otherwise when this text was accepted. Never fails. */
  readonly send: (text: string, options?: AnswerOptions) => Effect.Effect<void>
  /** Returns when all were accepted. */
  readonly settled: Effect.Effect<void>
}

/** What still waits at the end of the scope is dropped: the peer no longer reads. */
export const make = (
  send: Connection["send"],
  maxWaiting: number,
): Effect.Effect<Answers, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Set<Fiber.Fiber<void>>()
    const idle = Latch.makeUnsafe(true)
    yield* Effect.addFinalizer(() => Fiber.interruptAll(waiting))

    /** When the peer is gone, its end of input follows and ends everything. */
    const deliver = (text: string, { after = Effect.void, relatedTo }: AnswerOptions) =>
      send([text], relatedTo === undefined ? undefined : { relatedTo }).pipe(
        Effect.andThen(after),
        Effect.catch(({ reason }) => Effect.logDebug(`response dropped: ${reason}`)),
      )

    const sendAnswer: Answers["send"] = (text, options = {}) =>
      Effect.suspend(() => {
        const work = deliver(text, options)
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

    return { send: sendAnswer, settled: idle.await }
  })
