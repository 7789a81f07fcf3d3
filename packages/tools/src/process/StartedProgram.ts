/**
 * A program with its process groups, from its start until no process of it is left (L8): the group of the program itself,
 * the one inside the sandbox, and on Linux the descendants that carry its mark. The watchdog knows each group before its
 * program may run.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { CommandNotStarted, Launch } from "./Command.ts"
import { heldCommand, isGated, type StartConditions, watchedGroups } from "./HeldCommand.ts"
import { killMarked, killMarkedOrWarn, type MarkedProgram } from "./MarkedProcesses.ts"
import type { ProcessGroup } from "./ProcessGroup.ts"
import { diagnose, faultOf, notExamined } from "./StartFailure.ts"
import type { Watchdog } from "./Watchdog.ts"

/**
 * How long a process group may take to disappear after SIGKILL. A process that survives it for this time hangs in the
 * kernel; waiting longer would not help.
 */
const killedTime = Duration.millis(500)

/** Intervals between checks of a process group; they grow, because reading a large process table takes time. */
const polls = Schedule.min([
  Schedule.exponential(Duration.millis(2), 1.5),
  Schedule.spaced(Duration.millis(50)),
])

/** The services that start a program and end it. */
export interface ProgramServices {
  readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  readonly fs: FileSystem.FileSystem
  readonly group: ProcessGroup["Service"]
  readonly watchdog: Watchdog["Service"]
}

/** A program that was started, with all its process groups. */
export interface StartedProgram {
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

const spawn = (
  { fs, spawner }: ProgramServices,
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
export const endGroup = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  { handle: { pid }, kill }: StartedProgram,
  killGrace: Duration.Duration,
) {
  if (yield* group.signal(pid, "SIGTERM")) yield* gone(group, pid, killGrace)
  yield* kill
})

/** Sends SIGKILL to the group, and waits until no process of it lives, within bounds. */
export const killGroup = Effect.fnUntraced(function* (group: ProcessGroup["Service"], pid: number) {
  if (yield* group.signal(pid, "SIGKILL")) yield* gone(group, pid, killedTime)
})

/** Kills the marked descendants. Fails when some may be left because the system does not show them. */
export const killDescendants = (
  group: ProcessGroup["Service"],
  { marked }: StartedProgram,
  { argv }: Launch,
): Effect.Effect<void, CommandNotStarted> =>
  marked === undefined
    ? Effect.void
    : Effect.catch(killMarked(group, marked), ({ code }) => Effect.fail(notExamined(argv[0], code)))

/** @param onInner runs with the process group inside the sandbox, once it is known */
const startedProgram = (
  group: ProcessGroup["Service"],
  facts: Pick<StartedProgram, "handle" | "marked" | "isGated" | "mayRun">,
  onInner: (inner: number) => Effect.Effect<void>,
): StartedProgram => {
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

/** Ends the groups and the marked descendants of a program that is not over. */
const endProgram = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  program: StartedProgram,
  killGrace: Duration.Duration,
) {
  if (program.over) return
  yield* endGroup(group, program, killGrace)
  if (program.marked !== undefined) yield* killMarkedOrWarn(group, program.marked)
})

/** Starts the program. When the scope closes, its process groups have been ended. */
export const start = Effect.fnUntraced(function* (
  parts: ProgramServices,
  launch: Launch,
  killGrace: Duration.Duration,
) {
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
  const programOf = (handle: ChildProcessSpawner.ChildProcessHandle): StartedProgram => {
    const marked = mark === undefined ? undefined : { mark, pid: handle.pid, startedAtNanos }
    const mayRun = launch.held === undefined ? holding.mayRun : holding.insideMayRun
    const facts = { handle, marked, isGated: isGated(launch, holding), mayRun }
    return startedProgram(parts.group, facts, (inner) =>
      watched ? groups.add(inner, inside) : Effect.void,
    )
  }
  const spawning = spawn(parts, launch, killGrace, holding).pipe(
    Scope.provide(lifetime),
    Effect.tap(({ pid }) => (watched ? groups.add(pid, outside) : Effect.void)),
    Effect.map(programOf),
  )
  return yield* Effect.acquireRelease(
    Effect.onError(spawning, () => Scope.close(lifetime, Exit.void)),
    Effect.fnUntraced(function* (program) {
      yield* endProgram(parts.group, program, killGrace)
      yield* groups.remove
      // The platform's own finalizers wait for dead processes too; nothing here depends on them any more.
      yield* Effect.forkDetach(Scope.close(lifetime, Exit.void))
    }),
  )
})
