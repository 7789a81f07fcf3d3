/**
 * Ends the processes that descend from a program and left its process group, found by the mark that they carry. Never
 * starts anything, and never signals a process without the mark. Part of L8.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { isMarked, type Mark } from "./Mark.ts"
import type { ProcessGroup } from "./ProcessGroup.ts"

/** A program with the mark that it and its descendants carry. */
export interface Marked {
  readonly mark: Mark
  /** Id of the first process that carried the mark. */
  readonly pid: number
  /** Reading of the monotonic clock at its start. */
  readonly startedAtNanos: bigint
}

/**
 * In less time the system does not give out all process ids once: descendants have the ids that come after the first.
 * Later, all processes are read, each of which takes some 20 to 40 microseconds.
 */
const idsRepeatAfterNanos = 1_000_000_000n

/** Processes read before other fibers get their turn. */
const sliceSize = 64

const delays = Schedule.min([Schedule.exponential("2 millis", 1.5), Schedule.spaced("50 millis")])

/** With these delays about half a second: what lives longer after SIGKILL hangs in the system. */
const maxRepeats = 15

/** What has been seen of the processes over all passes. */
interface Seen {
  /** Without limits to read: gone, or dead and not waited for. */
  readonly silent: Set<number>
  /** The system does not let this user signal these. */
  readonly refused: Set<number>
}

/**
 * Signals all that carry the mark; true when another pass is needed, because one was found, or because a process ended
 * while it was to be read, and may have left a child that was not listed.
 */
const pass = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  { mark, pid, startedAtNanos }: Marked,
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

/** Kills everything that carries the mark and waits until nothing of it is left, at most half a second. */
export const endMarked = Effect.fnUntraced(function* (
  group: ProcessGroup["Service"],
  marked: Marked,
) {
  const seen: Seen = { silent: new Set(), refused: new Set() }
  yield* Effect.repeat(pass(group, marked, seen), {
    while: (again) => again,
    schedule: delays,
    times: maxRepeats,
  })
  if (seen.refused.size === 0) return
  yield* Effect.logWarning(
    "processes of another user outlive their command",
    [...seen.refused].join(" "),
  )
})
