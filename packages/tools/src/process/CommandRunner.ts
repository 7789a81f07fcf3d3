/**
 * Service: runs a program to its end, its timeout or its interruption, and leaves nothing of it behind (L8).
 *
 * Each program leads a process group of its own; that group is what is asked to end and is killed. A descendant that
 * leaves the group (`setsid`, a daemon) is killed when the program has ended: in a sandbox by its process namespace, else
 * on Linux by the mark that it carries (`Mark`). Output is read as fast as `onOutput` takes it, and kept within bounds. Never decides what may run, and
 * never confines anything: a `Launch` comes confined.
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
import * as Gate from "./Gate.ts"
import { commandOf, guarding, type Holding, isGated } from "./Holding.ts"
import { ProcessGroup } from "./ProcessGroup.ts"
import { Reaper } from "./Reaper.ts"
import { endMarked, type Marked } from "./Strays.ts"
import { diagnose, faultOf, launcherFault, sandboxFault } from "./StartFailure.ts"

/** How long pipes are waited for that a process in the background still holds; the original waits as long. */
const drainTime = Duration.seconds(2)

/** How long a killed group may take to be gone. */
const killedTime = Duration.millis(500)

/** A group that takes its time, or is large, is asked about less often. */
const polls = Schedule.min([
  Schedule.exponential(Duration.millis(2), 1.5),
  Schedule.spaced(Duration.millis(50)),
])

/** Bubblewrap writes two lines; more is not its own. */
const maxStatusBytes = 64 * 1024

export interface RunOptions {
  readonly timeout: Duration.Duration
  /** Between being asked to end and being killed. */
  readonly killGrace: Duration.Duration
  /** Kept of each stream, half of its head and half of its tail. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Given every chunk as it is read; while it takes its time the program may have to wait. */
  readonly onOutput: (chunk: OutputChunk) => Effect.Effect<void>
}

export class CommandRunner extends Context.Service<
  CommandRunner,
  {
    /**
     * Runs the program and waits until it, everything in its group and all its descendants are gone. Past `timeout` the group gets SIGTERM
     * and after `killGrace` SIGKILL, the result is `TimedOut` whatever it exited with. Interrupted, it does the same
     * before it returns. Fails only for a program that never ran.
     */
    readonly run: (
      launch: Launch,
      options: RunOptions,
    ) => Effect.Effect<CommandResult, CommandNotStarted>
  }
>()("@colloquy/tools/CommandRunner") {
  /** Tests give groups of their own. */
  static readonly layerOfGroups = Layer.effect(
    this,
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const parts = {
        spawner,
        fs: yield* FileSystem.FileSystem,
        group: yield* ProcessGroup,
        reaper: yield* Reaper,
      }
      return CommandRunner.of({
        run: (launch, options) => Effect.scoped(runScoped(parts, launch, options)),
      })
    }),
  )

  static readonly layer = Layer.provide(
    this.layerOfGroups,
    Layer.merge(ProcessGroup.layer, Reaper.layer),
  )
}

const spawn = (
  { fs, spawner }: Parts,
  launch: Launch,
  killGrace: Duration.Duration,
  holding: Holding,
): Effect.Effect<ChildProcessSpawner.ChildProcessHandle, CommandNotStarted, Scope.Scope> =>
  Effect.suspend(() => {
    const fault = faultOf(launch)
    if (fault !== undefined) return Effect.fail(fault)
    const failed = (failure: unknown) => Effect.flatMap(diagnose(fs, launch, failure), Effect.fail)
    return spawner.spawn(commandOf(launch, killGrace, holding)).pipe(
      // Node throws some of the system's errors instead of telling them: they are no fault of ours.
      Effect.catchDefect(failed),
      Effect.catchTag("PlatformError", failed),
    )
  })

type Ending = Exclude<CommandResult["exit"], { readonly _tag: "TimedOut" }>

/** The platform gives a signal's name in its message alone. */
const signalOf = (error: PlatformError): Ending => ({
  _tag: "Signaled",
  signal: /'(SIG[A-Z0-9]+)'/.exec(String(error.reason.cause))?.[1] ?? "SIGKILL",
})

const endingOf = (handle: ChildProcessSpawner.ChildProcessHandle): Effect.Effect<Ending> =>
  handle.exitCode.pipe(
    Effect.map((code): Ending => ({ _tag: "Exited", code: Number(code) })),
    Effect.catch((error) => Effect.succeed(signalOf(error))),
  )

/** Reads to the end; a pipe that breaks has ended. */
const read = (
  stream: Stream.Stream<Uint8Array, PlatformError>,
  take: (bytes: Uint8Array) => Effect.Effect<void>,
) => Effect.forkScoped(Effect.ignore(Stream.runForEach(stream, take)))

const readOutput = Effect.fnUntraced(function* (
  { enter, handle, isGated }: Started,
  launch: Launch,
  options: RunOptions,
) {
  const limit = options.maxOutputBytes ?? defaultMaxBytes
  const [stdout, isJoined] = [new Capture(limit), launch.joinsOutput === true]
  const captures = {
    stdout,
    stderr: new Capture(limit),
    aggregated: isJoined ? stdout : new Capture(limit),
    status: new Capture(maxStatusBytes),
  }
  // What the gate or the launcher says is no output of the program.
  const prefixes = [
    ...(isGated ? [Gate.complaintPrefix] : []),
    ...(launch.launcher === undefined ? [] : [launch.launcher.prefix]),
  ]
  const complaints = isJoined ? "stdout" : "stderr"
  let complains: boolean | undefined = prefixes.length === 0 ? false : undefined
  const take = (stream: OutputChunk["stream"]) => (bytes: Uint8Array) => {
    if (stream === complaints && complains === undefined) {
      const text = new TextDecoder().decode(bytes)
      complains = prefixes.some((prefix) => text.startsWith(prefix))
    }
    captures[stream].push(bytes)
    if (!isJoined) captures.aggregated.push(bytes)
    return complains === true ? Effect.void : options.onOutput({ stream, bytes })
  }
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
  return { captures, readers, complained: captures[complaints] }
})

/** Waits until nothing of the group lives; true when that is so within the time given. */
const gone = (group: ProcessGroup["Service"], pid: number, within: Duration.Duration) =>
  group
    .lives(pid)
    .pipe(
      Effect.repeat({ while: (lives) => lives, schedule: polls }),
      Effect.timeoutOption(within),
      Effect.map(Option.isSome),
    )

/** Asks the group to end, kills it after the grace, and waits until nothing of it lives. */
const endGroup = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  { handle: { pid }, kill }: Started,
  killGrace: Duration.Duration,
) {
  if (yield* group.signal(pid, "SIGTERM")) yield* gone(group, pid, killGrace)
  yield* kill
})

/** What not even SIGKILL ends within the time hangs in the system; waiting longer would not help. */
const killGroup = Effect.fnUntraced(function* (group: ProcessGroup["Service"], pid: number) {
  if (yield* group.signal(pid, "SIGKILL")) yield* gone(group, pid, killedTime)
})

const killStrays = (group: ProcessGroup["Service"], { marked }: Started) =>
  marked === undefined ? Effect.void : endMarked(group, marked)

interface Parts {
  readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  readonly fs: FileSystem.FileSystem
  readonly group: ProcessGroup["Service"]
  readonly reaper: Reaper["Service"]
}

interface Started {
  readonly handle: ChildProcessSpawner.ChildProcessHandle
  /** Present when what it starts carries a mark. */
  readonly marked: Marked | undefined
  /** True when the gate stands in for the program. */
  readonly isGated: boolean
  /** What runs in its sandbox leads or will lead this group; the first time counts. */
  readonly enter: (group: number) => Effect.Effect<void>
  /** Ends all of it at once, once it was asked to end or has ended. */
  readonly kill: Effect.Effect<void>
  /** True once nothing of the group is left. */
  over: boolean
}

/** Starts the program; when the scope ends its groups are over. */
const started = Effect.fnUntraced(function* (parts: Parts, launch: Launch, options: RunOptions) {
  const lifetime = yield* Scope.make()
  const watched =
    (!launch.diesWithParent || launch.held !== undefined) && (yield* parts.reaper.ready)
  const guard = guarding(parts.reaper, lifetime)
  const [outside, inside] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const mark = watched && launch.held === undefined ? yield* parts.reaper.mark : undefined
  const holding: Holding = {
    ...(mark === undefined ? {} : { mark }),
    admitted: watched ? Deferred.await(outside) : Effect.void,
    admittedInside: watched ? Deferred.await(inside) : Effect.void,
  }
  let inner: number | undefined
  const startedAtNanos = yield* Clock.monotonicTimeNanos
  const programOf = (handle: ChildProcessSpawner.ChildProcessHandle): Started => ({
    handle,
    marked: mark === undefined ? undefined : { mark, pid: handle.pid, startedAtNanos },
    isGated: isGated(launch, holding),
    over: false,
    enter: (group) =>
      Effect.suspend(() => {
        if (inner !== undefined) return Effect.void
        inner = group
        return watched ? guard.add(group, inside) : Effect.void
      }),
    kill: Effect.suspend(() =>
      Effect.forEach([handle.pid, ...(inner === undefined ? [] : [inner])], (group) =>
        killGroup(parts.group, group),
      ),
    ),
  })
  const spawning = spawn(parts, launch, options.killGrace, holding).pipe(
    Scope.provide(lifetime),
    Effect.tap(({ pid }) => (watched ? guard.add(pid, outside) : Effect.void)),
    Effect.map(programOf),
  )
  return yield* Effect.acquireRelease(
    Effect.onError(spawning, () => Scope.close(lifetime, Exit.void)),
    Effect.fnUntraced(function* (program) {
      if (!program.over) {
        yield* endGroup(parts.group, program, options.killGrace)
        yield* killStrays(parts.group, program)
      }
      yield* guard.remove
      // The platform's own clean-up waits for dead processes too: nothing of ours depends on it any more.
      yield* Effect.forkDetach(Scope.close(lifetime, Exit.void))
    }),
  )
})

const runScoped = Effect.fnUntraced(function* (parts: Parts, launch: Launch, options: RunOptions) {
  const startedAt = yield* Clock.monotonicTimeNanos
  const program = yield* started(parts, launch, options)
  const { handle } = program
  const { captures, complained, readers } = yield* readOutput(program, launch, options)
  const ending = yield* Effect.timeoutOption(endingOf(handle), options.timeout)
  if (Option.isNone(ending)) yield* endGroup(parts.group, program, options.killGrace)
  yield* Effect.timeoutOption(Fiber.joinAll(readers), drainTime)
  // What is left of the group has had its time.
  // The sandbox of one that exited is over: it told the exit code as its last.
  const hasExited = Option.isSome(ending) && ending.value._tag === "Exited"
  yield* hasExited ? killGroup(parts.group, handle.pid) : program.kill
  yield* killStrays(parts.group, program)
  program.over = true
  if (Option.isSome(ending) && ending.value._tag === "Exited") {
    const { code } = ending.value
    const said = complained.finish().text
    if (program.isGated && code !== 0 && Gate.isComplaint(said)) {
      const fault = diagnose(parts.fs, launch, { code: Gate.faultCode(said, code) })
      return yield* Effect.flatMap(fault, Effect.fail)
    }
    const ran =
      launch.statusFd === undefined || captures.status.finish().text.includes('"exit-code"')
    if (!ran) return yield* sandboxFault(said)
    const { launcher } = launch
    if (launcher !== undefined && code !== 0 && said.startsWith(launcher.prefix)) {
      return yield* launcherFault(launcher, code, said)
    }
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
