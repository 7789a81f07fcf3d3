/** A command that prints until its timeout: how much is read, and how long the event loop is blocked. */
import * as Effect from "effect/Effect"
import { strain } from "./Memory.ts"
import { callTool, withMachine } from "./Setting.ts"

/** Sizes of the measurement. */
export interface FloodSizes {
  readonly timeoutMs: number
}

/** The result. */
export interface FloodFigure {
  readonly readBytes: number
  readonly grownBytes: number
  readonly maxGapMs: number
}

/** Reads the number of bytes from the kept text. */
const totalIn = (text: string): number => {
  const marker = /\n\[\.\.\. omitted \d+ of (\d+) bytes \.\.\.\]\n/.exec(text)
  return marker === null ? text.length : Number(marker[1])
}

/** Measures one command. */
export const flood = (sizes: FloodSizes): Effect.Effect<FloodFigure> =>
  withMachine(({ settings }) =>
    Effect.gen(function* () {
      let readBytes = 0
      const shell = (command: ReadonlyArray<string>, timeout_ms: number) =>
        callTool(settings, "shell", { command, timeout_ms }, ({ msg }) => {
          if (msg.type === "exec_command_end") readBytes = totalIn(msg.stdout)
        })
      yield* shell(["true"], 1000)
      const [, { grownBytes, maxGapMs }] = yield* strain(shell(["yes"], sizes.timeoutMs))
      return { readBytes, grownBytes, maxGapMs }
    }),
  )
