/** The benchmark `exec`: commands, their output and patches, as the tools run them. */
import * as Effect from "effect/Effect"
import type { CommandFigure, CommandSizes, WayFigure } from "./exec/Commands.ts"
import type { FloodFigure, FloodSizes } from "./exec/Flood.ts"
import type { OutputFigure, OutputSizes } from "./exec/Output.ts"
import type { PatchFigure, PatchSizes } from "./exec/Patch.ts"
import type { ShellCallFigure, ShellCallSizes } from "./exec/ShellCall.ts"
import type { TurnDiffFigure, TurnDiffSizes } from "./exec/TurnDiff.ts"
import { take } from "./Figure.ts"
import { summarize } from "./Stats.ts"
import { megabytes, ms, perSecond, type Row } from "./Table.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface ExecCounts {
  readonly commands: CommandSizes
  readonly output: OutputSizes
  readonly flood: FloodSizes
  readonly patch: Omit<PatchSizes, "files">
  readonly diff: { readonly lines: number; readonly runs: number }
  readonly shellCall: ShellCallSizes
}

/** Takes about half a minute on two cores. */
export const full: ExecCounts = {
  commands: { warmUps: 20, runs: 150, many: 400, inFlight: 16 },
  output: { bytes: 10_000_000, runs: 5 },
  flood: { timeoutMs: 2000 },
  patch: { hunks: 1000, runs: 5 },
  diff: { lines: 10_000, runs: 5 },
  shellCall: { warmUps: 20, turns: 100 },
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: ExecCounts = {
  commands: { warmUps: 1, runs: 2, many: 4, inFlight: 2 },
  output: { bytes: 100_000, runs: 1 },
  flood: { timeoutMs: 100 },
  patch: { hunks: 10, runs: 1 },
  diff: { lines: 100, runs: 1 },
  shellCall: { warmUps: 1, turns: 2 },
}

/** A prototype with bubblewrap and the same filter took 6.5 ms in an Effect process; the original took 36 ms. */
const maxConfinedMs = 8

/** A prototype reached 280 commands per second by the same means, and 83 with another library. */
const minConfinedPerSecond = 200

const count = (value: number): string => value.toLocaleString("en-US")

const median = (samples: ReadonlyArray<number>): string => ms(summarize(samples).median)

const spread = (samples: ReadonlyArray<number>): string => {
  const { median, p99 } = summarize(samples)
  return `${ms(median)} (p99 ${ms(p99)})`
}

const oneRow = (name: string, own: WayFigure, beside: string): Row => ({
  name: `command ${name}`,
  value: spread(own.ms),
  beside,
})

const manyRow = (name: string, inFlight: number, own: WayFigure, beside: string): Row => ({
  name: `the same ${name}, ${inFlight} at a time`,
  value: perSecond(own.perSecond),
  beside: `${beside}, longest gap of the event loop ${ms(own.maxGapMs)}`,
})

const confinedRows = (figure: CommandFigure, inFlight: number): ReadonlyArray<Row> => {
  if (figure.confined === undefined) {
    const beside = `no sandbox here: ${figure.missing}`
    return [{ name: "command in the sandbox", value: "skipped", beside }]
  }
  const { bubblewrap, confineMs, sandboxed } = figure.confined
  const one = summarize(sandboxed.ms).median
  return [
    {
      ...oneRow(
        "in the sandbox",
        sandboxed,
        `bubblewrap by Node ${median(bubblewrap.ms)}; its arguments take ${median(confineMs)}`,
      ),
      aim: { text: `< ${maxConfinedMs} ms`, met: one < maxConfinedMs },
    },
    {
      ...manyRow(
        "in the sandbox",
        inFlight,
        sandboxed,
        `bubblewrap by Node ${perSecond(bubblewrap.perSecond)}`,
      ),
      aim: {
        text: `>= ${perSecond(minConfinedPerSecond)}`,
        met: sandboxed.perSecond >= minConfinedPerSecond,
      },
    },
  ]
}

const commands = Effect.fn("bench.commands")(function* (sizes: CommandSizes) {
  const figure = yield* take<CommandFigure>("commands", sizes)
  const { node, runner, watchdog } = figure
  const { inFlight } = sizes
  const beside = `spawn by Node ${median(node.ms)}`
  const besideMany = `spawn by Node ${perSecond(node.perSecond)}`
  return [
    oneRow("without a sandbox", runner, beside),
    manyRow("without a sandbox", inFlight, runner, besideMany),
    oneRow("under the watchdog", watchdog, beside),
    manyRow("under the watchdog", inFlight, watchdog, besideMany),
    ...confinedRows(figure, inFlight),
  ]
})

const output = Effect.fn("bench.output")(function* (counts: ExecCounts) {
  const whole = yield* take<OutputFigure>("output", counts.output)
  const endless = yield* take<FloodFigure>("flood", counts.flood)
  const { timeoutMs } = counts.flood
  return [
    {
      name: `output of ${megabytes(counts.output.bytes)}`,
      value: ms(summarize(whole.ms).median),
      beside: `delivered in ${count(whole.deltas)} events, memory grew by ${megabytes(whole.grownBytes)}, longest gap ${ms(whole.maxGapMs)}`,
    },
    {
      name: `\`yes\` until its timeout of ${timeoutMs / 1000} s`,
      value: `${megabytes(endless.readBytes)} read`,
      beside: `memory grew by ${megabytes(endless.grownBytes)}, longest gap of the event loop ${ms(endless.maxGapMs)}`,
    },
  ] satisfies ReadonlyArray<Row>
})

const patches = Effect.fn("bench.patches")(function* ({ patch }: ExecCounts) {
  const rows: Array<Row> = []
  for (const files of ["one", "each"] as const) {
    const figure = yield* take<PatchFigure>("patch", { ...patch, files } satisfies PatchSizes)
    rows.push({
      name: `patch of ${count(patch.hunks)} hunks, ${files === "one" ? "one file" : "a file each"}`,
      value: median(figure.computeMs),
      beside: `until it is judged; then written by a confined process in ${median(figure.applyMs)}`,
    })
  }
  return rows
})

const turnDiffs = Effect.fn("bench.turnDiffs")(function* ({ diff: { lines, runs } }: ExecCounts) {
  const rows: Array<Row> = []
  for (const changed of new Set([1, lines / 100, lines / 10, lines])) {
    const sizes: TurnDiffSizes = { lines, runs, changed }
    const figure = yield* take<TurnDiffFigure>("turnDiff", sizes)
    const share = changed === lines ? "all" : count(changed)
    rows.push({
      name: `turn_diff of ${count(lines)} lines, ${share} changed`,
      value: median(figure.ms),
      beside: `${count(figure.length)} characters`,
    })
  }
  return rows
})

const shellCall = Effect.fn("bench.shellCall")(function* (sizes: ShellCallSizes) {
  const figure = yield* take<ShellCallFigure>("shellCall", sizes)
  return {
    name: "turn with one command in it",
    value: spread(figure.turnMs),
    beside: `the command ${median(figure.commandMs)}, from begin to end event`,
  } satisfies Row
})

/** Measures commands, their output and patches, and prints one row per figure. */
export const exec = Effect.fn("bench.exec")(function* (counts: ExecCounts) {
  return [
    ...(yield* commands(counts.commands)),
    yield* shellCall(counts.shellCall),
    ...(yield* output(counts)),
    ...(yield* patches(counts)),
    ...(yield* turnDiffs(counts)),
  ]
})
