/**
 * Service: signals processes and process groups, reports whether a group has living processes, and reads the resource
 * limits of processes. Never starts anything.
 *
 * A platform edge over Node's `process.kill` and `/proc`, because `effect/process` counts a dead process as alive until
 * its parent has waited for it. Where the first process of the machine does so slowly or never (in containers), it
 * waits a second for each, and an interrupt must not take a second longer (L14).
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FS from "node:fs"

/** The system did not show its processes, most often because this process has no file descriptor left (`EMFILE`). */
export class ProcessesNotShown extends Data.TaggedError("ProcessesNotShown")<{
  /** Code of the system error. */
  readonly code: string
}> {}

/** Access to the processes of this machine; see the header of this file. */
export class ProcessGroup extends Context.Service<
  ProcessGroup,
  {
    /** Sends the signal to all processes of the group. False when the group has none left. */
    readonly signal: (group: number, name: "SIGTERM" | "SIGKILL") => Effect.Effect<boolean>
    /** True while a process of the group runs, and when the system does not show whether one does. */
    readonly lives: (group: number) => Effect.Effect<boolean>
    /**
     * Ids of all processes. With `bornAfter`, only those that the system started after it assigned that id, provided
     * that ids have not wrapped around completely since. Empty on systems without `/proc`.
     */
    readonly ids: (bornAfter?: number) => Effect.Effect<ReadonlyArray<number>, ProcessesNotShown>
    /** The text of `/proc/PID/limits`; empty for a process that has ended. */
    readonly limitsOf: (pid: number) => Effect.Effect<string, ProcessesNotShown>
    /** Kills one process. False when the system does not permit it; true also when the process has already ended. */
    readonly kill: (pid: number) => Effect.Effect<boolean>
  }
>()("@colloquy/tools/ProcessGroup") {
  /** The processes of this machine. */
  static readonly layer = Layer.sync(this, () =>
    ProcessGroup.of({
      signal: (group, name) => Effect.sync(() => sent(group, name)),
      lives: (group) =>
        Effect.orElseSucceed(
          shown(() => sent(group, 0) && hasLiving(group)),
          () => true,
        ),
      ids: (bornAfter) => shown(() => idsOf(bornAfter)),
      limitsOf: (pid) => shown(() => limitsOf(pid)),
      kill: (pid) => Effect.sync(() => isKilled(pid)),
    }),
  )
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)

/** Reads something of `/proc`. */
const shown = <A>(read: () => A): Effect.Effect<A, ProcessesNotShown> =>
  Effect.try({ try: read, catch: (cause) => new ProcessesNotShown({ code: codeOf(cause) }) })

/** macOS answers EPERM for a group that has only dead processes. */
const sent = (group: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/** Checks the leader first, which most often still runs, because the list of processes is long; then the youngest. */
const hasLiving = (group: number): boolean =>
  process.platform !== "linux" ||
  isLiving(String(group), group) ||
  FS.readdirSync("/proc")
    .toReversed()
    .some((name) => /^\d+$/.test(name) && isLiving(name, group))

/**
 * Format: `pid (name) state parent group …`. The name may contain anything, so reading starts after its last
 * parenthesis.
 */
const isLiving = (pid: string, group: number): boolean => {
  const stat = textOf(`/proc/${pid}/stat`)
  const [state, , of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return of === String(group) && state !== "Z" && state !== "X"
}

/**
 * A dead process that its parent has not waited for still shows its limits. Its state is read only where the limit on
 * locks is set, which is rare: reading it for every process would double the cost.
 */
const limitsOf = (pid: number): string => {
  const limits = textOf(`/proc/${pid}/limits`)
  if (/^Max file locks\s+unlimited/m.test(limits)) return limits
  const stat = textOf(`/proc/${pid}/stat`)
  const state = stat.charAt(stat.lastIndexOf(")") + 2)
  return state === "Z" || state === "X" ? "" : limits
}

/** Errors of the system that say nothing about the process. */
const shortages = ["EMFILE", "ENFILE", "ENOMEM"]

/** Empty for a process that has ended meanwhile. Throws where the system has no means to read it. */
const textOf = (path: string): string => {
  try {
    return FS.readFileSync(path, "latin1")
  } catch (cause) {
    if (shortages.includes(codeOf(cause))) throw cause
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

/**
 * The ids among `all` that were assigned after `bornAfter`, where `last` is the id that was assigned last, read after the
 * list. A lower `last` means that ids have wrapped around in between. Otherwise ids above it were assigned before an
 * earlier wrap.
 */
export const assignedAfter = (
  all: ReadonlyArray<number>,
  bornAfter: number,
  last: number,
): ReadonlyArray<number> =>
  last < bornAfter
    ? all.filter((pid) => pid > bornAfter || pid <= last)
    : all.filter((pid) => pid > bornAfter && pid <= last)

const idsOf = (bornAfter?: number): ReadonlyArray<number> => {
  if (process.platform !== "linux") return []
  const all = FS.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  if (bornAfter === undefined) return all
  return assignedAfter(all, bornAfter, Number(textOf("/proc/loadavg").trim().split(" ").at(-1)))
}
