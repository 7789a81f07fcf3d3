/**
 * The lines of stdin for a chat without a terminal of its own, and the signals that end it, in one queue with everything else.
 * The next bytes of stdin are read when the lines before them are in the queue, so stdin waits for the chat. A line that is
 * longer than the limit is reported once and not kept.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { EventEmitter } from "node:events"
import type { Readable } from "node:stream"
import * as CallbackOffers from "../CallbackOffers.ts"
import { LineSplitter } from "./LineSplitter.ts"
import type { PlainInput } from "./PlainInput.ts"

/** The lines as they come. */
export interface PlainLines {
  /** Called when the chat has enough of them: no more are read until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
}

/** The process, as far as it is read here. */
export interface PlainProcess extends EventEmitter {
  readonly stdin: Readable
}

/** Longest line in UTF-16 code units: the longest text that a conversation accepts at once. */
const maxLineLength = 64 * 1024 * 1024

const stopCodes = { SIGTERM: 143, SIGHUP: 129 } as const

/** The next bytes of stdin, which flows until then only; undefined at its end. */
const nextBytes = (stdin: Readable): Effect.Effect<Uint8Array | undefined> =>
  Effect.callback((resume) => {
    if (stdin.readableEnded || stdin.destroyed) return resume(Effect.undefined)
    const unlisten = () => {
      stdin.pause()
      stdin.off("data", onData).off("end", onEnd).off("error", onEnd)
    }
    const onData = (bytes: Uint8Array) => {
      unlisten()
      resume(Effect.succeed(bytes))
    }
    const onEnd = () => {
      unlisten()
      resume(Effect.undefined)
    }
    stdin.on("data", onData).on("end", onEnd).on("error", onEnd)
    stdin.resume()
    return Effect.sync(unlisten)
  })

const read = Effect.fnUntraced(function* (
  stdin: Readable,
  queue: Queue.Enqueue<PlainInput>,
  isWanted: Latch.Latch,
  maxLength: number,
) {
  const lines = new LineSplitter(maxLength)
  const offer = (text: string | undefined) =>
    Effect.andThen(
      isWanted.await,
      Queue.offer(
        queue,
        text === undefined ? { _tag: "TooLong", maxLength } : { _tag: "Line", text },
      ),
    )
  for (;;) {
    yield* isWanted.await
    const bytes = yield* nextBytes(stdin)
    if (bytes === undefined) break
    yield* Effect.forEach(lines.push(bytes), offer, { discard: true })
  }
  yield* Effect.forEach(lines.end(), offer, { discard: true })
  yield* Queue.offer(queue, { _tag: "End" })
})

const listen = (from: EventEmitter, offer: (input: PlainInput) => void): (() => void) => {
  const signals = [
    ["SIGINT", () => offer({ _tag: "Interrupt" })] as const,
    ...Object.entries(stopCodes).map(
      ([signal, code]) => [signal, () => offer({ _tag: "Stop", code })] as const,
    ),
  ]
  for (const [signal, listener] of signals) from.on(signal, listener)
  return () => {
    for (const [signal, listener] of signals) from.off(signal, listener)
  }
}

/** Offers lines and signals to the queue until the scope closes. Reads nothing before `resume`. */
export const make = Effect.fnUntraced(function* (
  queue: Queue.Queue<PlainInput>,
  from: PlainProcess = process,
  maxLength = maxLineLength,
): Effect.fn.Return<PlainLines, never, Scope.Scope> {
  const { offer } = yield* CallbackOffers.make(queue)
  yield* Effect.acquireRelease(
    Effect.sync(() => listen(from, offer)),
    (unlisten) => Effect.sync(unlisten),
  )
  const isWanted = yield* Latch.make(false)
  yield* Effect.forkScoped(read(from.stdin, queue, isWanted, maxLength))
  return {
    pause: () => void isWanted.closeUnsafe(),
    resume: () => void isWanted.openUnsafe(),
  }
})
