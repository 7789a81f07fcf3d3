/** The cost of a command that does nothing, beside its peers, one at a time and many at once. */
import type { Launch } from "@colloquy/tools/process/Command"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import { type ConfiningPolicy, Sandbox } from "@colloquy/tools/sandbox/Sandbox"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as RawCommand from "./RawCommand.ts"
import { type Bench, withMachine } from "./Setting.ts"

/** Sizes of the measurement. */
export interface CommandSizes {
  /** Commands of each way that are not counted. */
  readonly warmUps: number
  /** Commands of each way, one after the other. */
  readonly runs: number
  /** Commands of each way, `inFlight` at a time. */
  readonly many: number
  readonly inFlight: number
}

/** One way to run the command. */
export interface WayFigure {
  readonly ms: ReadonlyArray<number>
  readonly perSecond: number
  /** Longest gap of the event loop in milliseconds while many ran. */
  readonly maxGapMs: number
}

/** The result, per way of running the command. */
export interface CommandFigure {
  readonly node: WayFigure
  /** The command runner, which also ends its processes when the server is killed. */
  readonly runner: WayFigure
  readonly watchdog: WayFigure
  /** Absent without a sandbox; `missing` then says why. */
  readonly confined?: {
    readonly sandboxed: WayFigure
    /** The same argument list, started by Node. */
    readonly bubblewrap: WayFigure
    /** Milliseconds to compute that argument list, per command. */
    readonly confineMs: ReadonlyArray<number>
  }
  readonly missing?: string
}

interface Way {
  /** Runs one command and returns its milliseconds. */
  readonly one: Effect.Effect<number>
  /** Runs one of many commands. */
  readonly ofMany: Effect.Effect<unknown>
  /** Provides what many commands need. */
  readonly while: (many: Effect.Effect<void>) => Effect.Effect<void>
}

/** The usual command line of a model. */
const argv = ["bash", "-c", "true"] as const

const policy: ConfiningPolicy = { mode: "workspace-write" }

const options = {
  timeout: Duration.seconds(10),
  killGrace: Duration.millis(500),
  onOutput: () => Effect.void,
}

const environment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )

const timed = (command: Effect.Effect<unknown>): Effect.Effect<number> =>
  Effect.suspend(() => {
    const startedAtMs = performance.now()
    return Effect.map(command, () => performance.now() - startedAtMs)
  })

/** A way without preparation. */
const wayOf = (command: Effect.Effect<unknown>): Way => ({
  one: timed(command),
  ofMany: command,
  while: (many) => many,
})

const manyOf = Effect.fnUntraced(function* (way: Way, { inFlight, many }: CommandSizes) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const startedAtMs = performance.now()
  yield* way.while(
    Effect.forEach(Array.from({ length: many }), () => way.ofMany, {
      concurrency: inFlight,
      discard: true,
    }),
  )
  const perSecond = (many / (performance.now() - startedAtMs)) * 1000
  delay.disable()
  return { perSecond, maxGapMs: delay.max / 1e6 }
})

/** Alternates the ways, so that a busy moment of the machine affects all of them. */
const measure = Effect.fnUntraced(function* (ways: ReadonlyArray<Way>, sizes: CommandSizes) {
  const samples = ways.map((): Array<number> => [])
  for (let run = -sizes.warmUps; run < sizes.runs; run++) {
    for (const [index, way] of ways.entries()) {
      const ms = yield* way.one
      if (run >= 0) samples[index]?.push(ms)
    }
  }
  const figures: Array<WayFigure> = []
  for (const [index, way] of ways.entries()) {
    figures.push({ ms: samples[index] ?? [], ...(yield* manyOf(way, sizes)) })
  }
  return figures
})

const none: WayFigure = { ms: [], perSecond: Number.NaN, maxGapMs: Number.NaN }

/** The way with the sandbox, the duration of computing its arguments, and its peer. */
const confinedWays = Effect.fnUntraced(function* (bench: Bench) {
  const runner = yield* CommandRunner
  const sandbox = yield* Sandbox
  const confineMs: Array<number> = []
  const command = { argv, cwd: bench.workspace, env: environment() }
  const confine = sandbox.confine(command, policy, bench.workspace)
  const sandboxed = Effect.gen(function* () {
    const launch = Effect.gen(function* () {
      const startedAtMs = performance.now()
      const made = yield* confine
      confineMs.push(performance.now() - startedAtMs)
      return { ...made, joinsOutput: true }
    })
    return yield* runner.run(launch, options)
  }).pipe(Effect.scoped, Effect.orDie)
  const prepared = Effect.orDie(confine)
  const raw: Way = {
    // Placeholders for missing directories are created before and are not part of the figure.
    one: Effect.scoped(Effect.flatMap(prepared, (launch) => timed(RawCommand.run(launch)))),
    ofMany: RawCommand.run(yield* Effect.scoped(prepared)),
    while: (many) => Effect.scoped(Effect.andThen(prepared, many)),
  }
  return { confineMs, ways: [wayOf(sandboxed), raw] }
})

/** Measures every way. */
export const commands = (sizes: CommandSizes): Effect.Effect<CommandFigure> =>
  withMachine((bench) =>
    Effect.gen(function* () {
      const runner = yield* CommandRunner
      const { status } = yield* Sandbox
      const launch: Launch = {
        argv,
        cwd: bench.workspace,
        env: environment(),
        inputs: new Map(),
        diesWithParent: true,
      }
      const watched = { ...launch, diesWithParent: false, joinsOutput: true }
      const plain: ReadonlyArray<Way> = [
        wayOf(RawCommand.run(launch)),
        wayOf(Effect.orDie(runner.run(launch, options))),
        wayOf(Effect.orDie(runner.run(watched, options))),
      ]
      const confined = bench.isConfined ? yield* confinedWays(bench) : undefined
      const all = [...plain, ...(confined?.ways ?? [])]
      const [node = none, ours = none, watchdog = none, sandboxed, bubblewrap] = yield* measure(
        all,
        sizes,
      )
      const figure = { node, runner: ours, watchdog }
      if (confined !== undefined && sandboxed !== undefined && bubblewrap !== undefined) {
        const confineMs = confined.confineMs.slice(sizes.warmUps, sizes.warmUps + sizes.runs)
        return { ...figure, confined: { sandboxed, bubblewrap, confineMs } }
      }
      const why = yield* status
      return { ...figure, missing: why._tag === "Unavailable" ? why.reason : "" }
    }),
  )
