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
import * as Gate from "./Gate.ts"
import type { Mark } from "./Mark.ts"
import type { Reaper } from "./Reaper.ts"

/** When the parts of a program may run: not before they are sure to die with the server. */
export interface Holding {
  /**
   * Mark of a program that is started by way of the gate. Absent: the `held` inputs of its `Launch` hold it back, if
   * any.
   */
  readonly mark?: Mark
  /** Resolves when the program may run. */
  readonly admitted: Effect.Effect<void>
  /** Resolves when the process inside the sandbox may run. */
  readonly admittedInside: Effect.Effect<void>
}

const stdinOf = ({ stdin }: Launch, { admitted, mark }: Holding): ChildProcess.CommandInput => {
  const own = stdin === undefined ? [] : [stdin]
  if (mark !== undefined) return Stream.concat(after(admitted, Gate.pass), Stream.fromIterable(own))
  // An open pipe would make programs wait for input that never comes.
  return stdin === undefined ? "ignore" : Stream.make(stdin)
}

const after = (admitted: Effect.Effect<void>, bytes: Uint8Array) =>
  Stream.fromEffect(Effect.as(admitted, bytes))

const inputOf = ({ held }: Launch, fd: number, bytes: Uint8Array, holding: Holding) => {
  if (fd === held?.outside) return after(holding.admitted, bytes)
  return fd === held?.inside ? after(holding.admittedInside, bytes) : Stream.make(bytes)
}

const wordsOf = (launch: Launch, mark: Mark | undefined): Launch["argv"] => {
  if (mark !== undefined) {
    return Gate.gateOf({ ...launch, mark, hasInput: launch.stdin !== undefined })
  }
  if (launch.joinsOutput !== true) return launch.argv
  // The platform sets the directory and the input of the program.
  const { argv, env } = launch
  return Gate.gateOf({ argv, env, hasInput: true, joinsOutput: true })
}

/** True when the program is started by way of the gate. */
export const isGated = (launch: Launch, { mark }: Pick<Holding, "mark">): boolean =>
  mark !== undefined || launch.joinsOutput === true

/** The command of the platform for this launch. */
export const commandOf = (
  launch: Launch,
  killGrace: Duration.Duration,
  holding: Holding,
): ChildProcess.StandardCommand => {
  const additionalFds: Record<`fd${number}`, ChildProcess.AdditionalFdConfig> = {}
  for (const [fd, bytes] of launch.inputs) {
    additionalFds[`fd${fd}`] = { type: "input", stream: inputOf(launch, fd, bytes, holding) }
  }
  if (launch.statusFd !== undefined) additionalFds[`fd${launch.statusFd}`] = { type: "output" }
  const { mark } = holding
  const [program, ...args] = wordsOf(launch, mark)
  return ChildProcess.make(program, args, {
    ...(mark === undefined ? { cwd: launch.cwd } : {}),
    env: { ...launch.env },
    stdin: stdinOf(launch, holding),
    killSignal: "SIGTERM",
    forceKillAfter: killGrace,
    additionalFds,
  })
}

/** Registers the process groups of one program with the watchdog. */
export const guarding = (reaper: Reaper["Service"], lifetime: Scope.Scope) => {
  const groups: Array<number> = []
  return {
    groups,
    /** Registers a group and completes `known` when the watchdog knows it. Does not wait. */
    add: (group: number, known: Deferred.Deferred<void>) => {
      groups.push(group)
      return Effect.asVoid(
        Effect.forkIn(Deferred.into(reaper.add(group), known), lifetime, {
          startImmediately: true,
        }),
      )
    },
    /** Removes all registered groups from the watchdog, because they are gone. */
    remove: Effect.suspend(() => Effect.forEach(groups, reaper.remove, { discard: true })),
  }
}
