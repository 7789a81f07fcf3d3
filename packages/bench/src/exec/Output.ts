/** A command that prints a lot and ends: through the shell tool, with all that listeners are told of it. */
import * as Effect from "effect/Effect"
import { strain } from "./Memory.ts"
import { callTool, withMachine } from "./Setting.ts"

export interface OutputSizes {
  readonly bytes: number
  readonly runs: number
}

export interface OutputFigure {
  readonly ms: ReadonlyArray<number>
  /** Of the first run: later ones find what it left. */
  readonly grownBytes: number
  readonly maxGapMs: number
  /** Events with output, of one run. */
  readonly deltas: number
}

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
