/** The lines of stdin for a chat without a terminal of its own, and the signals that end it, in one queue with everything else. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { createInterface } from "node:readline"
import type { PlainInput } from "./PlainInput.ts"

/** The lines as they come. */
export interface PlainLines {
  /** Called when the chat has enough of them: no more are read until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
}

const stopCodes = { SIGTERM: 143, SIGHUP: 129 } as const

/** Offers lines and signals to the queue until the scope closes. */
export const make = (
  queue: Queue.Queue<PlainInput>,
): Effect.Effect<PlainLines, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const offer = (input: PlainInput) => () => void Queue.offerUnsafe(queue, input)
        const signals = [
          ["SIGINT", offer({ _tag: "Interrupt" })] as const,
          ...Object.entries(stopCodes).map(
            ([signal, code]) => [signal, offer({ _tag: "Stop", code })] as const,
          ),
        ]
        for (const [signal, listener] of signals) process.on(signal, listener)
        const lines = createInterface({ input: process.stdin })
        const state = { isOpen: true }
        lines.on("line", (text) => offer({ _tag: "Line", text })())
        lines.once("close", () => {
          state.isOpen = false
          offer({ _tag: "End" })()
        })
        return { lines, signals, state }
      }),
      ({ lines, signals }) =>
        Effect.sync(() => {
          for (const [signal, listener] of signals) process.off(signal, listener)
          lines.close()
        }),
    ),
    ({ lines, state }) => ({
      pause: () => void (state.isOpen && lines.pause()),
      resume: () => void (state.isOpen && lines.resume()),
    }),
  )
