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
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Capture, defaultMaxBytes } from "./Capture.ts"
import type { CommandNotStarted, CommandResult, Launch, OutputChunk } from "./Command.ts"
import * as StartGate from "./StartGate.ts"
import * as StartTurns from "./StartTurns.ts"
import { heldCommand, watchedGroups, type StartConditions, isGated } from "./HeldCommand.ts"
import { ProcessGroup } from "./ProcessGroup.ts"
import { Watchdog } from "./Watchdog.ts"
import { killMarked, killMarkedOrWarn, type MarkedProgram } from "./MarkedProcesses.ts"
import { diagnose, faultOf, launcherFault, notExamined, sandboxFault } from "./StartFailure.ts"

/** How long to read pipes that a background process still holds open; the original waits as long. */
const drainTime = Duration.seconds(2)

/** How long a process group may take to disappear after SIGKILL. */
const killedTime = Duration.millis(500)

/** Intervals between checks of a process group; they grow, because reading a large process table takes time. */
const polls = Schedule.min([
  Schedule.exponential(Duration.millis(2), 1.5),
  Schedule.spaced(Duration.millis(50)),
])

/** Bubblewrap writes two lines to its status descriptor; anything longer does not come from it. */
const maxStatusBytes = 64 * 1024

/** Limits of one run, and where its output is delivered. */
export interface RunOptions {
  /**
   * After this time the program is ended; the result is then `TimedOut`. It counts from when the program may run: neither
   * the wait for its turn to start is part of it, nor its start, unless that takes longer than `longestTurn`.
   */
  readonly timeout: Duration.Duration
  /** Time between SIGTERM and SIGKILL. */
  readonly killGrace: Duration.Duration
  /** Bytes kept of each stream, half of them from its head and half from its tail. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Called with each chunk as it is read. Until it completes, no more is read, so the program may have to wait. */
  readonly onOutput: (chunk: OutputChunk) => Effect.Effect<void>
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
     * Only a few programs start at once. `launch` as an effect is run when it is the turn of this one, so that what it
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
        turn: StartTurns.make(),
      }
      return CommandRunner.of({
        run: (launch, options) => Effect.scoped(runScoped(parts, launch, options)),
      })
    }),
  )

  /** The service with the process groups of this machine. */
  static readonly layer = Layer.provide(
    this.layerOfGroups,
    Layer.merge(ProcessGroup.layer, Watchdog.layer),
  )
}

const spawn = (
  { fs, spawner }: Parts,
  launch: Launch,
  killGrace: Duration.Duration,
  holding: StartConditions,
): Effect.Effect<ChildProcessSpawner.ChildProcessHandle, CommandNotStarted, Scope.Scope> =>
  Effect.suspend(() => {
    const fault = faultOf(launch)
    if (fault !== undefined) return Effect.fail(fault)
    const failed = (failure: unknown) => Effect.flatMap(diagnose(fs, launch, failure), Effect.fail)
    return spawner.spawn(heldCommand(launch, killGrace, holding)).pipe(
      // Node throws some errors of the system instead of reporting them: they are no defects of this program.
      Effect.catchDefect(failed),
      Effect.catchTag("PlatformError", failed),
    )
  })

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

/** Reads to the end of the stream; a broken pipe counts as its end. */
const read = (
  stream: Stream.Stream<Uint8Array, PlatformError>,
  take: (bytes: Uint8Array) => Effect.Effect<void>,
) => Effect.forkScoped(Effect.ignore(Stream.runForEach(stream, take)))

/** Captures what a program writes, and delivers it without the messages of the gate and the launcher. */
const captureOutput = (isGated: boolean, launch: Launch, options: RunOptions) => {
  const limit = options.maxOutputBytes ?? defaultMaxBytes
  const [stdout, isJoined] = [new Capture(limit), launch.joinsOutput === true]
  const captures = {
    stdout,
    stderr: new Capture(limit),
    aggregated: isJoined ? stdout : new Capture(limit),
    status: new Capture(maxStatusBytes),
  }
  // Messages of the gate or the launcher are not output of the program.
  const prefixes = [
    ...(isGated ? [StartGate.errorPrefix] : []),
    ...(launch.launcher === undefined ? [] : [launch.launcher.prefix]),
  ]
  const errorStream = isJoined ? "stdout" : "stderr"
  /** Undefined until the first bytes of the error stream arrive. */
  let isStartError: boolean | undefined = prefixes.length === 0 ? false : undefined
  const take = (stream: OutputChunk["stream"]) => (bytes: Uint8Array) => {
    if (stream === errorStream && isStartError === undefined) {
      const text = new TextDecoder().decode(bytes)
      isStartError = prefixes.some((prefix) => text.startsWith(prefix))
    }
    captures[stream].push(bytes)
    if (!isJoined) captures.aggregated.push(bytes)
    return isStartError === true ? Effect.void : options.onOutput({ stream, bytes })
  }
  return { captures, errorOutput: captures[errorStream], take }
}

/** Starts to read all outputs; the readers end with the outputs or with the scope. */
const readOutput = Effect.fnUntraced(function* (
  { enter, handle, isGated }: Started,
  launch: Launch,
  options: RunOptions,
) {
  const { captures, errorOutput, take } = captureOutput(isGated, launch, options)
  const readers = [
    yield* read(handle.stdout, take("stdout")),
    yield* read(handle.stderr, take("stderr")),
  ]
  if (launch.statusFd !== undefined) {
    const takeStatus = (bytes: Uint8Array) => {
      captures.status.push(bytes)
      const child = /"child-pid": (\d+)\D/.exec(captures.status.finish().text)
      return child === null ? Effect.void : enter(Number(child[1]))
    }
    readers.push(yield* read(handle.getOutputFd(launch.statusFd), takeStatus))
  }
  return { captures, readers, errorOutput }
})

/** Waits until no process of the group lives; true when that happens within the given time. */
const gone = (group: ProcessGroup["Service"], pid: number, within: Duration.Duration) =>
  group
    .lives(pid)
    .pipe(
      Effect.repeat({ while: (lives) => lives, schedule: polls }),
      Effect.timeoutOption(within),
      Effect.map(Option.isSome),
    )

/** Sends SIGTERM to the group, SIGKILL after the grace, and waits until no process of it lives. */
const endGroup = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  { handle: { pid }, kill }: Started,
  killGrace: Duration.Duration,
) {
  if (yield* group.signal(pid, "SIGTERM")) yield* gone(group, pid, killGrace)
  yield* kill
})

/** A process that survives SIGKILL for this time hangs in the kernel; waiting longer would not help. */
const killGroup = Effect.fnUntraced(function* (group: ProcessGroup["Service"], pid: number) {
  if (yield* group.signal(pid, "SIGKILL")) yield* gone(group, pid, killedTime)
})

/** Fails when descendants may be left because the system does not show them. */
const killDescendants = (
  group: ProcessGroup["Service"],
  { marked }: Started,
  { argv }: Launch,
): Effect.Effect<void, CommandNotStarted> =>
  marked === undefined
    ? Effect.void
    : Effect.catch(killMarked(group, marked), ({ code }) => Effect.fail(notExamined(argv[0], code)))

interface Parts {
  readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  readonly fs: FileSystem.FileSystem
  readonly group: ProcessGroup["Service"]
  readonly watchdog: Watchdog["Service"]
  readonly turn: StartTurns.TakeTurn
}

interface Started {
  readonly handle: ChildProcessSpawner.ChildProcessHandle
  /** Present when the program and its descendants carry a mark. */
  readonly marked: MarkedProgram | undefined
  /** True when the program was started by way of the gate. */
  readonly isGated: boolean
  /** Resolves when nothing holds the program back any more. */
  readonly mayRun: Effect.Effect<void>
  /** Records the process group that runs inside the sandbox; only the first call counts. */
  readonly enter: (group: number) => Effect.Effect<void>
  /** Kills all groups of the program at once; used after SIGTERM, or when the program has ended. */
  readonly kill: Effect.Effect<void>
  /** True once no process of the groups is left. */
  over: boolean
}

/** @param onInner runs with the process group inside the sandbox, once it is known */
const startedProgram = (
  group: ProcessGroup["Service"],
  facts: Pick<Started, "handle" | "marked" | "isGated" | "mayRun">,
  onInner: (inner: number) => Effect.Effect<void>,
): Started => {
  let inner: number | undefined
  return {
    ...facts,
    over: false,
    enter: (entered) =>
      Effect.suspend(() => {
        if (inner !== undefined) return Effect.void
        inner = entered
        return onInner(entered)
      }),
    kill: Effect.suspend(() =>
      Effect.forEach([facts.handle.pid, ...(inner === undefined ? [] : [inner])], (pid) =>
        killGroup(group, pid),
      ),
    ),
  }
}

/** Starts the program. When the scope closes, its process groups have been ended. */
const started = Effect.fnUntraced(function* (parts: Parts, launch: Launch, options: RunOptions) {
  const lifetime = yield* Scope.make()
  const watched =
    (!launch.diesWithParent || launch.held !== undefined) && (yield* parts.watchdog.ready)
  const groups = watchedGroups(parts.watchdog, lifetime)
  const [outside, inside] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const mark = watched && launch.held === undefined ? yield* parts.watchdog.mark : undefined
  const holding: StartConditions = {
    ...(mark === undefined ? {} : { mark }),
    mayRun: watched ? Deferred.await(outside) : Effect.void,
    insideMayRun: watched ? Deferred.await(inside) : Effect.void,
  }
  const startedAtNanos = yield* Clock.monotonicTimeNanos
  const programOf = (handle: ChildProcessSpawner.ChildProcessHandle): Started => {
    const marked = mark === undefined ? undefined : { mark, pid: handle.pid, startedAtNanos }
    const mayRun = launch.held === undefined ? holding.mayRun : holding.insideMayRun
    const facts = { handle, marked, isGated: isGated(launch, holding), mayRun }
    return startedProgram(parts.group, facts, (inner) =>
      watched ? groups.add(inner, inside) : Effect.void,
    )
  }
  const spawning = spawn(parts, launch, options.killGrace, holding).pipe(
    Scope.provide(lifetime),
    Effect.tap(({ pid }) => (watched ? groups.add(pid, outside) : Effect.void)),
    Effect.map(programOf),
  )
  return yield* Effect.acquireRelease(
    Effect.onError(spawning, () => Scope.close(lifetime, Exit.void)),
    Effect.fnUntraced(function* (program) {
      if (!program.over) {
        yield* endGroup(parts.group, program, options.killGrace)
        const { marked } = program
        if (marked !== undefined) yield* killMarkedOrWarn(parts.group, marked)
      }
      yield* groups.remove
      // The platform's own finalizers wait for dead processes too; nothing here depends on them any more.
      yield* Effect.forkDetach(Scope.close(lifetime, Exit.void))
    }),
  )
})

/** Waits until the program ends or its time is up, and for the end of its turn to start. */
const endingInTime = Effect.fnUntraced(function* (
  { handle, mayRun }: Started,
  turn: StartTurns.StartTurn,
  timeout: Duration.Duration,
) {
  yield* turn.endAfter(mayRun)
  const begun = Effect.timeoutOption(mayRun, StartTurns.longestTurn)
  const late = Effect.as(Effect.andThen(begun, Effect.sleep(timeout)), Option.none<Ending>())
  const ending = yield* Effect.raceFirst(Effect.asSome(endingOf(handle)), late)
  yield* turn.end
  return ending
})

/** Fails when what exited with this code was the gate, the sandbox or the launcher, so that the program never ran. */
const requireRan = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  launch: Launch,
  exited: Pick<Effect.Success<ReturnType<typeof readOutput>>, "captures" | "errorOutput"> &
    Pick<Started, "isGated"> & { readonly code: number },
) {
  const { captures, code, errorOutput, isGated } = exited
  const message = errorOutput.finish().text
  if (isGated && code !== 0 && StartGate.isGateError(message)) {
    const fault = diagnose(fs, launch, { code: StartGate.errorCode(message, code) })
    return yield* Effect.flatMap(fault, Effect.fail)
  }
  const ran = launch.statusFd === undefined || captures.status.finish().text.includes('"exit-code"')
  if (!ran) return yield* sandboxFault(message)
  const { launcher } = launch
  if (launcher !== undefined && code !== 0 && message.startsWith(launcher.prefix)) {
    return yield* launcherFault(launcher, code, message)
  }
})

const runScoped = Effect.fnUntraced(function* (
  parts: Parts,
  given: Parameters<CommandRunner["Service"]["run"]>[0],
  options: RunOptions,
) {
  const turn = yield* parts.turn
  const launch = Effect.isEffect(given) ? yield* given : given
  const startedAt = yield* Clock.monotonicTimeNanos
  const program = yield* started(parts, launch, options)
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
