/**
 * Turns a `Launch` into a command of the platform of which nothing runs before the watchdog knows its process groups.
 * Starts nothing itself. Part of L8.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Launch } from "./Command.ts"
import * as StartGate from "./StartGate.ts"
import type { ProcessMark } from "./ProcessMark.ts"
import type { Watchdog } from "./Watchdog.ts"

/** When the parts of a program may run: not before they are sure to die with the server. */
export interface StartConditions {
  /**
   * Mark of a program that is started by way of the gate. Absent: the `held` inputs of its `Launch` hold it back, if
   * any.
   */
  readonly mark?: ProcessMark
  /** Resolves when the program may run. */
  readonly mayRun: Effect.Effect<void>
  /** Resolves when the process inside the sandbox may run. */
  readonly insideMayRun: Effect.Effect<void>
}

/** What the program itself reads; undefined: nothing. */
const ownInput = ({ input, stdin }: Launch): Stream.Stream<Uint8Array> | undefined =>
  stdin === undefined ? input : Stream.make(stdin)

const stdinOf = (launch: Launch, { mayRun, mark }: StartConditions): ChildProcess.CommandInput => {
  const own = ownInput(launch)
  if (mark !== undefined) {
    return Stream.concat(after(mayRun, StartGate.releaseLine), own ?? Stream.empty)
  }
  // An open pipe would make programs wait for input that never comes.
  return own ?? "ignore"
}

const after = (admitted: Effect.Effect<void>, bytes: Uint8Array) =>
  Stream.fromEffect(Effect.as(admitted, bytes))

const inputOf = ({ held }: Launch, fd: number, bytes: Uint8Array, holding: StartConditions) => {
  if (fd === held?.outside) return after(holding.mayRun, bytes)
  return fd === held?.inside ? after(holding.insideMayRun, bytes) : Stream.make(bytes)
}

const wordsOf = (launch: Launch, mark: ProcessMark | undefined): Launch["argv"] => {
  if (mark !== undefined) {
    return StartGate.gatedArgv({ ...launch, mark, hasInput: ownInput(launch) !== undefined })
  }
  if (launch.joinsOutput !== true) return launch.argv
  // The platform sets the input of the program.
  const { argv, cwd, env } = launch
  return StartGate.gatedArgv({ argv, cwd, env, hasInput: true, joinsOutput: true })
}

/** True when the program is started by way of the gate. */
export const isGated = (launch: Launch, { mark }: Pick<StartConditions, "mark">): boolean =>
  mark !== undefined || launch.joinsOutput === true

/** The command of the platform for this launch. */
export const heldCommand = (
  launch: Launch,
  killGrace: Duration.Duration,
  holding: StartConditions,
): ChildProcess.StandardCommand => {
  const additionalFds: Record<`fd${number}`, ChildProcess.AdditionalFdConfig> = {}
  for (const [fd, bytes] of launch.inputs) {
    additionalFds[`fd${fd}`] = { type: "input", stream: inputOf(launch, fd, bytes, holding) }
  }
  if (launch.statusFd !== undefined) additionalFds[`fd${launch.statusFd}`] = { type: "output" }
  const [program, ...args] = wordsOf(launch, holding.mark)
  return ChildProcess.make(program, args, {
    ...(isGated(launch, holding) ? {} : { cwd: launch.cwd }),
    env: { ...launch.env },
    stdin: stdinOf(launch, holding),
    killSignal: "SIGTERM",
    forceKillAfter: killGrace,
    additionalFds,
  })
}

/** Registers the process groups of one program with the watchdog. */
export const watchedGroups = (watchdog: Watchdog["Service"], lifetime: Scope.Scope) => {
  const groups: Array<number> = []
  return {
    groups,
    /** Registers a group and completes `known` when the watchdog knows it. Does not wait. */
    add: (group: number, known: Deferred.Deferred<void>) => {
      groups.push(group)
      return Effect.asVoid(
        Effect.forkIn(Deferred.into(watchdog.add(group), known), lifetime, {
          startImmediately: true,
        }),
      )
    },
    /** Removes all registered groups from the watchdog, because they are gone. */
    remove: Effect.suspend(() => Effect.forEach(groups, watchdog.remove, { discard: true })),
  }
}
