/**
 * Kills the processes that descend from a program and left its process group. It finds them by the mark that they
 * carry. Never starts anything, and never signals a process without the mark. Part of L8.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { isMarked, type ProcessMark } from "./ProcessMark.ts"
import type { ProcessesNotShown, ProcessGroup } from "./ProcessGroup.ts"

/** A program, and the mark that it and its descendants carry. */
export interface MarkedProgram {
  readonly mark: ProcessMark
  /** Id of the first process that carried the mark. */
  readonly pid: number
  /** Reading of the monotonic clock at the start of that process. */
  readonly startedAtNanos: bigint
}

/**
 * Within this time the system does not assign all process ids once, so descendants have ids that follow the first.
 * Later, all processes are read, which takes some 20 to 40 microseconds each.
 */
const idsRepeatAfterNanos = 1_000_000_000n

/** Number of processes that are read before other fibers run. */
const sliceSize = 64

const delays = Schedule.min([Schedule.exponential("2 millis", 1.5), Schedule.spaced("50 millis")])

/** With these delays about half a second: a process that survives SIGKILL longer hangs in the kernel. */
const maxRepeats = 15

/** What is known of the processes over all passes. */
interface Seen {
  /** Processes without readable limits: gone, or dead and not waited for. */
  readonly silent: Set<number>
  /** Processes that the system does not let this user signal. */
  readonly refused: Set<number>
  /** Why the last pass did not see all processes; undefined when it did. */
  failure?: ProcessesNotShown | undefined
}

/**
 * Kills all processes that carry the mark. True when another pass is needed, because one was found, or because a
 * process ended while it was being read and may have left a child that was not listed.
 */
const pass = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  { mark, pid, startedAtNanos }: MarkedProgram,
  { refused, silent }: Seen,
) {
  const age = (yield* Clock.monotonicTimeNanos) - startedAtNanos
  const ids = yield* group.ids(age < idsRepeatAfterNanos ? pid : undefined)
  let again = false
  for (const [index, id] of ids.entries()) {
    if (index % sliceSize === sliceSize - 1) yield* Effect.yieldNow
    const limits = yield* group.limitsOf(id)
    if (limits === "" && !silent.has(id)) {
      silent.add(id)
      again = true
    }
    if (!isMarked(limits, mark) || refused.has(id)) continue
    if (yield* group.kill(id)) again = true
    else refused.add(id)
  }
  return again
})

/** A pass that could not see all processes is to be repeated. */
const repeatable = (
  group: ProcessGroup["Service"],
  marked: MarkedProgram,
  seen: Seen,
): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    seen.failure = undefined
    return pass(group, marked, seen)
  }).pipe(
    Effect.catch((failure) =>
      Effect.sync(() => {
        seen.failure = failure
        return true
      }),
    ),
  )

/**
 * Kills all processes that carry the mark and waits until none is left, at most half a second. Fails when the system did
 * not show all processes during that time: then some may be left.
 */
export const killMarked = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  marked: MarkedProgram,
) {
  const seen: Seen = { silent: new Set(), refused: new Set() }
  yield* Effect.repeat(repeatable(group, marked, seen), {
    while: (again) => again,
    schedule: delays,
    times: maxRepeats,
  })
  if (seen.refused.size > 0) {
    yield* Effect.logWarning(
      "processes of another user outlive their command",
      [...seen.refused].join(" "),
    )
  }
  if (seen.failure !== undefined) return yield* seen.failure
})

/** The same at the end of a program whose result is already known: a failure is logged. */
export const killMarkedOrWarn = (
  group: ProcessGroup["Service"],
  marked: MarkedProgram,
): Effect.Effect<void> =>
  Effect.catch(killMarked(group, marked), ({ code }) =>
    Effect.logWarning(
      `processes that left the group of process ${marked.pid} may outlive it: they cannot be listed (${code})`,
    ),
  )
