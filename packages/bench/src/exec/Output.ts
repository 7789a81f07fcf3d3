/** A command with much output, run by the shell tool, with the events for its listeners. */
import * as Effect from "effect/Effect"
import { strain } from "./Memory.ts"
import { callTool, withMachine } from "./Setting.ts"

/** Sizes of the measurement. */
export interface OutputSizes {
  readonly bytes: number
  readonly runs: number
}

/** The result. */
export interface OutputFigure {
  readonly ms: ReadonlyArray<number>
  /** Load of the first run; later runs reuse its memory. */
  readonly grownBytes: number
  readonly maxGapMs: number
  /** Events with output in one run. */
  readonly deltas: number
}

/** Measures the command. */
export const output = (sizes: OutputSizes): Effect.Effect<OutputFigure> =>
  withMachine(({ settings }) =>
    Effect.gen(function* () {
      const ms: Array<number> = []
      let deltas = 0
      const shell = (script: string) =>
        callTool(settings, "shell", { command: ["bash", "-c", script] }, ({ msg }) => {
          if (msg.type === "exec_command_output_delta") deltas++
        })
      yield* shell("true")
      const print = Effect.gen(function* () {
        deltas = 0
        const call = yield* shell(`yes 0123456789abcde | head -c ${sizes.bytes}`)
        ms.push(call.endedAtMs - call.startedAtMs)
      })
      const [, { grownBytes, maxGapMs }] = yield* strain(print)
      for (let run = 1; run < sizes.runs; run++) yield* print
      return { ms, grownBytes, maxGapMs, deltas }
    }),
  )
