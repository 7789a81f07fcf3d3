/** What the faults of a file system say about what was looked for, and which of them pass. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { FileFault } from "../Files.ts"

/**
 * True where there is nothing at the path. Every other fault leaves open whether there is: an error that was met while
 * looking is never an absence.
 */
export const isAbsent = ({ code }: FileFault): boolean => code === "ENOENT" || code === "ENOTDIR"

/** Undefined for what is not there; every other fault stays one. */
export const orUndefined = <A, R>(
  effect: Effect.Effect<A, FileFault, R>,
): Effect.Effect<A | undefined, FileFault, R> =>
  Effect.catchIf(effect, isAbsent, () => Effect.succeed<A | undefined>(undefined))

/** What a system that is short of something answers; the same operation may succeed a moment later. */
const scarcityCodes: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "EAGAIN",
  "EINTR",
])

export const isScarcity = ({ code }: FileFault): boolean => scarcityCodes.has(code)

/** Long enough for a descriptor that another request holds for a moment, and little beside the bound of a store. */
const maxScarcityRetry = Duration.seconds(1)

/** Repeats what the system is short of something for, for a second at most. Only for what changes nothing when it fails. */
export const retryScarcity = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, {
    schedule: Schedule.spaced("25 millis").pipe(Schedule.upTo({ duration: maxScarcityRetry })),
    while: (error) => error instanceof FileFault && isScarcity(error),
  })
