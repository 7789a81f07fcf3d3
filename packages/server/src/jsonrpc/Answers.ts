/**
 * Sends the responses that no handler returns: errors about messages that cannot be served, and the responses to a
 * batch. Each is sent in a separate fiber, so that the server notices the end of input of a client that does not read
 * (L9). When the largest allowed number of them waits, reading from the connection waits too, as with every slow reader
 * (L6).
 */
import type { Connection } from "@colloquy/protocol/Connection"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { LazyLatch } from "./LazyLatch.ts"

interface AnswerOptions {
  /** Runs once the text was accepted. */
  readonly after?: Effect.Effect<void>
  /** The request that the text responds to; for a batch its first request. */
  readonly relatedTo?: RequestId
}

/** Sends the texts of responses, in order. */
export interface Answers {
  /** Resolves at once while fewer texts wait than the bound, otherwise when this text was accepted. Never fails. */
  readonly send: (text: string, options?: AnswerOptions) => Effect.Effect<void>
  /** Resolves when all texts were accepted. */
  readonly settled: Effect.Effect<void>
}

/** Texts that still wait when the scope closes are dropped, because the peer no longer reads. */
export const make = (
  send: Connection["send"],
  maxWaiting: number,
): Effect.Effect<Answers, never, Scope.Scope> =>
  Effect.gen(function* () {
    let waiting: Set<Fiber.Fiber<void>> | undefined
    const idle = new LazyLatch(true)
    yield* Effect.addFinalizer(() => Fiber.interruptAll(waiting ?? []))

    /** A failure is only logged: when the peer is gone, its end of input follows and ends the connection. */
    const deliver = (text: string, { after = Effect.void, relatedTo }: AnswerOptions) =>
      send([text], relatedTo === undefined ? undefined : { relatedTo }).pipe(
        Effect.andThen(after),
        Effect.catch(({ reason }) => Effect.logDebug(`response dropped: ${reason}`)),
      )

    const sendAnswer: Answers["send"] = (text, options = {}) =>
      Effect.suspend(() => {
        const work = deliver(text, options)
        const others = (waiting ??= new Set())
        if (others.size >= maxWaiting) return work
        return Effect.map(Effect.forkDetach(work, { startImmediately: true }), (fiber) => {
          if (fiber.pollUnsafe() !== undefined) return
          others.add(fiber)
          idle.closeUnsafe()
          fiber.addObserver(() => {
            others.delete(fiber)
            if (others.size === 0) idle.openUnsafe()
          })
        })
      })

    return { send: sendAnswer, settled: idle.await }
  })
