/**
 * Service: signals processes and their groups, tells whether anything in a group lives, and reads the limits of processes.
 * Never starts anything.
 *
 * A platform edge over Node's `process.kill` and `/proc`, because `effect/process` counts a dead process nobody has
 * waited for as alive: where the first process of the machine is slow to do so or never does (containers), it waits a
 * second for each, and an interrupt has no second to lose (L14).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FS from "node:fs"

export class ProcessGroup extends Context.Service<
  ProcessGroup,
  {
    /** False when the group has nobody left to signal. */
    readonly signal: (group: number, name: "SIGTERM" | "SIGKILL") => Effect.Effect<boolean>
    /** True while a process of the group runs. */
    readonly lives: (group: number) => Effect.Effect<boolean>
    /**
     * Ids of all processes; with `bornAfter`, of those that the system started after it gave out that id, as long as it
     * has not given out all ids since. None on systems without `/proc`.
     */
    readonly ids: (bornAfter?: number) => Effect.Effect<ReadonlyArray<number>>
    /** The text of `/proc/PID/limits`; empty for a process that has ended. */
    readonly limitsOf: (pid: number) => Effect.Effect<string>
    /** Kills one process. False when the system does not let this user do so; true also when it has ended. */
    readonly kill: (pid: number) => Effect.Effect<boolean>
  }
>()("@colloquy/tools/ProcessGroup") {
  static readonly layer = Layer.sync(this, () =>
    ProcessGroup.of({
      signal: (group, name) => Effect.sync(() => sent(group, name)),
      lives: (group) => Effect.sync(() => sent(group, 0) && hasLiving(group)),
      ids: (bornAfter) => Effect.sync(() => idsOf(bornAfter)),
      limitsOf: (pid) => Effect.sync(() => limitsOf(pid)),
      kill: (pid) => Effect.sync(() => isKilled(pid)),
    }),
  )
}

/** EPERM: macOS says so of a group of dead processes. */
const sent = (group: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/** The leader is looked at first: most often it is what still runs, and the list of all is long; then the youngest. */
const hasLiving = (group: number): boolean =>
  process.platform !== "linux" ||
  isLiving(String(group), group) ||
  FS.readdirSync("/proc")
    .toReversed()
    .some((name) => /^\d+$/.test(name) && isLiving(name, group))

/** `pid (name) state parent group …`; the name may hold anything, so what counts comes after its last parenthesis. */
const isLiving = (pid: string, group: number): boolean => {
  const stat = textOf(`/proc/${pid}/stat`)
  const [state, , of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return of === String(group) && state !== "Z" && state !== "X"
}

/**
 * A dead process that nobody has waited for still shows its limits. Its state is looked at only where the limit on locks
 * is set, which it hardly ever is: reading it for every process would double the cost.
 */
const limitsOf = (pid: number): string => {
  const limits = textOf(`/proc/${pid}/limits`)
  if (/^Max file locks\s+unlimited/m.test(limits)) return limits
  const stat = textOf(`/proc/${pid}/stat`)
  const state = stat.charAt(stat.lastIndexOf(")") + 2)
  return state === "Z" || state === "X" ? "" : limits
}

/** Empty for a process that has gone meanwhile. */
const textOf = (path: string): string => {
  try {
    return FS.readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

const isKilled = (pid: number): boolean => {
  try {
    return process.kill(pid, "SIGKILL")
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM"
  }
}

const idsOf = (bornAfter?: number): ReadonlyArray<number> => {
  if (process.platform !== "linux") return []
  const all = FS.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  if (bornAfter === undefined) return all
  // The last number is the id that was given out last: a lower one means that they began anew.
  const last = Number(textOf("/proc/loadavg").trim().split(" ").at(-1))
  return all.filter((pid) => pid > bornAfter || (last < bornAfter && pid <= last))
}
