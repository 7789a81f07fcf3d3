/**
 * Service: runs a program until it exits, times out or is interrupted, and leaves no process of it behind (L8).
 *
 * Each program leads its own process group. SIGTERM and SIGKILL are sent to that group. A descendant that leaves the
 * group (by `setsid`, or as a daemon) is killed when the program has ended: in a sandbox by its process namespace, else
 * on Linux by the mark that all descendants carry (`ProcessMark`). Output is read as fast as `onOutput` takes it, and
 * kept within bounds. This service never decides what may run and never confines anything: a `Launch` is already
 * confined.
 *
 *     waits for its turn --> start --> held until the watchdog knows the group --> running --> exited --+
 *                                                              |                                     v
 *                                                              +-- timeout or interrupt --> SIGTERM, kill grace, SIGKILL
 *                                                                                                    |
 *                                                              pipes read (2 s), marked processes killed <--+
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import type { CommandNotStarted, CommandResult, Launch } from "./Command.ts"
import { ProcessGroup } from "./ProcessGroup.ts"
import { type OutputOptions, readOutput, requireRan } from "./ProgramOutput.ts"
import {
  endGroup,
  killDescendants,
  killGroup,
  type ProgramServices,
  start,
  type StartedProgram,
} from "./StartedProgram.ts"
import { longestTurn, type StartTurn, StartTurns, type TakeTurn } from "./StartTurns.ts"
import { Watchdog } from "./Watchdog.ts"

/** How long to read pipes that a background process still holds open; the original waits as long. */
const drainTime = Duration.seconds(2)

/** Limits of one run, and where its output is delivered. */
export interface RunOptions extends OutputOptions {
  /**
   * After this time the program is ended; the result is then `TimedOut`. It counts from when the program may run: neither
   * the wait for its turn to start is part of it, nor its start, unless that takes longer than `longestTurn`.
   */
  readonly timeout: Duration.Duration
  /** Time between SIGTERM and SIGKILL. */
  readonly killGrace: Duration.Duration
}

/** Runs programs; see the header of this file. */
export class CommandRunner extends Context.Service<
  CommandRunner,
  {
    /**
     * Runs the program and resolves when it, its process group and all its descendants are gone. After `timeout` the
     * group gets SIGTERM and after `killGrace` SIGKILL; the result is then `TimedOut` whatever the exit code was. An
     * interrupt ends the program in the same way before it completes. Fails only when the program never ran, or when
     * the system does not show whether descendants are left.
     *
     * Only a few programs of the process start at once. `launch` as an effect is run when it is the turn of this one, so that what it
     * finds in the file system is as it was just before the start.
     */
    readonly run: (
      launch: Launch | Effect.Effect<Launch, CommandNotStarted, Scope.Scope>,
      options: RunOptions,
    ) => Effect.Effect<CommandResult, CommandNotStarted>
  }
>()("@colloquy/tools/CommandRunner") {
  /** Needs a `ProcessGroup` and a `Watchdog`: tests provide their own. */
  static readonly layerOfGroups = Layer.effect(
    this,
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const parts = {
        spawner,
        fs: yield* FileSystem.FileSystem,
        group: yield* ProcessGroup,
        watchdog: yield* Watchdog,
        turn: (yield* StartTurns).take,
      }
      return CommandRunner.of({
        run: (launch, options) => Effect.scoped(runScoped(parts, launch, options)),
      })
    }),
  )

  /** The service with the process groups of this machine. Needs the turns that all runners of the process share. */
  static readonly layer = Layer.provide(
    this.layerOfGroups,
    Layer.merge(ProcessGroup.layer, Watchdog.layer),
  )
}

type Ending = Exclude<CommandResult["exit"], { readonly _tag: "TimedOut" }>

/** The platform mentions the signal only in the message of its error. */
const signalOf = (error: PlatformError): Ending => ({
  _tag: "Signaled",
  signal: /'(SIG[A-Z0-9]+)'/.exec(String(error.reason.cause))?.[1] ?? "SIGKILL",
})

const endingOf = (handle: ChildProcessSpawner.ChildProcessHandle): Effect.Effect<Ending> =>
  handle.exitCode.pipe(
    Effect.map((code): Ending => ({ _tag: "Exited", code: Number(code) })),
    Effect.catch((error) => Effect.succeed(signalOf(error))),
  )

/** Waits until the program ends or its time is up, and for the end of its turn to start. */
const endingInTime = Effect.fnUntraced(function* (
  { handle, mayRun }: StartedProgram,
  turn: StartTurn,
  timeout: Duration.Duration,
) {
  yield* turn.endAfter(mayRun)
  const begun = Effect.timeoutOption(mayRun, longestTurn)
  const late = Effect.as(Effect.andThen(begun, Effect.sleep(timeout)), Option.none<Ending>())
  const ending = yield* Effect.raceFirst(Effect.asSome(endingOf(handle)), late)
  yield* turn.end
  return ending
})

interface Parts extends ProgramServices {
  readonly turn: TakeTurn
}

const runScoped = Effect.fnUntraced(function* (
  parts: Parts,
  given: Parameters<CommandRunner["Service"]["run"]>[0],
  options: RunOptions,
) {
  const turn = yield* parts.turn
  const launch = Effect.isEffect(given) ? yield* given : given
  const startedAt = yield* Clock.monotonicTimeNanos
  const program = yield* start(parts, launch, options.killGrace)
  const { handle } = program
  const output = yield* readOutput(program, launch, options)
  const { captures, readers } = output
  const ending = yield* endingInTime(program, turn, options.timeout)
  if (Option.isNone(ending)) yield* endGroup(parts.group, program, options.killGrace)
  yield* Effect.timeoutOption(Fiber.joinAll(readers), drainTime)
  // What is left of the group has had its grace. The sandbox of a program that exited is gone: it reports the exit
  // code last.
  const hasExited = Option.isSome(ending) && ending.value._tag === "Exited"
  yield* hasExited ? killGroup(parts.group, handle.pid) : program.kill
  yield* killDescendants(parts.group, program, launch)
  program.over = true
  if (Option.isSome(ending) && ending.value._tag === "Exited") {
    const { code } = ending.value
    yield* requireRan(parts.fs, launch, { ...output, isGated: program.isGated, code })
  }
  const result: CommandResult = {
    exit: Option.getOrElse(ending, () => ({ _tag: "TimedOut", after: options.timeout }) as const),
    stdout: captures.stdout.finish(),
    stderr: captures.stderr.finish(),
    aggregated: captures.aggregated.finish(),
    duration: Duration.nanos((yield* Clock.monotonicTimeNanos) - startedAt),
  }
  return result
})
