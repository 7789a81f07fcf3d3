/** Classifies file system faults: absence, and temporary lack of resources. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { FileFault } from "../Files.ts"

/**
 * True when the fault means that nothing exists at the path. No other fault may be taken for an
 * absence, because it leaves open whether something exists.
 */
export const isAbsent = ({ code }: FileFault): boolean => code === "ENOENT" || code === "ENOTDIR"

/** Turns an absence into undefined; every other fault still fails. */
export const orUndefined = <A, R>(
  effect: Effect.Effect<A, FileFault, R>,
): Effect.Effect<A | undefined, FileFault, R> =>
  Effect.catchIf(effect, isAbsent, () => Effect.succeed<A | undefined>(undefined))

/** Codes of a system that is short of a resource; the same operation may succeed a moment later. */
const scarcityCodes: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "EAGAIN",
  "EINTR",
])

/**
 * True when the same operation may succeed a moment later, because the system was short of a
 * resource.
 */
export const isScarcity = ({ code }: FileFault): boolean => scarcityCodes.has(code)

const retryDelay = Duration.millis(25)

/**
 * Long enough for a descriptor that another request holds for a moment, and short compared with the
 * time limit of store operations.
 */
const maxScarcityRetry = Duration.seconds(1)

const isScarcityOfFiles = (error: unknown): boolean =>
  error instanceof FileFault && isScarcity(error)

/**
 * Retries an operation for at most a second while the system is short of a resource. Only for
 * operations that change nothing when they fail. A first attempt that succeeds costs no schedule.
 */
export const retryScarcity = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchIf(effect, isScarcityOfFiles, () =>
    Effect.retry(effect, {
      schedule: Schedule.spaced(retryDelay).pipe(Schedule.upTo({ duration: maxScarcityRetry })),
      while: isScarcityOfFiles,
    }).pipe(Effect.delay(retryDelay)),
  )
