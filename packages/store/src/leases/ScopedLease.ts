/** The leases of a `LeaseDesk` as the port `Leases` has them: waited for within bounds, and given back with the scope (L16). */
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { retryScarcity } from "../internal/FileErrors.ts"
import { FileFault } from "../Files.ts"
import type { TakersLocked, HeldLease, ProcessLeases } from "./ProcessLeases.ts"
import type { Lease } from "../Leases.ts"

/** Taking a lease takes well under a millisecond; a caller that waits longer waits for a process that is stopped. */
const maxLockWait = Duration.seconds(5)

const lockRetries = Schedule.spaced("3 millis").pipe(Schedule.upTo({ duration: maxLockWait }))

const attempt = <A>(path: string, run: () => A): Effect.Effect<A, FileFault> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof FileFault
        ? error
        : new FileFault({ operation: "lease", path, code: "UNKNOWN" }),
  })

const takeWithin = (
  desk: ProcessLeases,
  id: ConversationId,
  sinceMs: number,
): Effect.Effect<HeldLease, LeaseHeld | FileFault> =>
  attempt(desk.pathOf(id), () => desk.take(id, sinceMs)).pipe(
    Effect.filterOrFail(
      (found): found is HeldLease => !("_tag" in found),
      (found) => found as LeaseHeld | TakersLocked,
    ),
    Effect.retry({ schedule: lockRetries, while: (error) => error._tag === "Crowded" }),
    Effect.catchTag("Crowded", () =>
      Effect.fail(new FileFault({ operation: "lease", path: desk.pathOf(id), code: "ETIMEDOUT" })),
    ),
    retryScarcity,
  )

/** A lease that could not be given back is left to a later attempt: nothing can be done about it here. */
const releaseLease = (
  desk: ProcessLeases,
  id: ConversationId,
  held: HeldLease,
): Effect.Effect<void> =>
  attempt(desk.pathOf(id), () => desk.release(id, held)).pipe(
    Effect.catch((fault) => Effect.logWarning(`a lease was not given back: ${fault.message}`)),
  )

/** The lease of a process, until the scope closes. */
export const acquireLease = (
  desk: ProcessLeases,
  id: ConversationId,
  sinceMs: number,
): Effect.Effect<Lease, LeaseHeld | FileFault, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(takeWithin(desk, id, sinceMs), (held) => releaseLease(desk, id, held)),
    (held) => ({
      inherited: held.inherited,
      lastGeneration: held.lastGeneration,
      recordGeneration: (generation) =>
        retryScarcity(attempt(desk.pathOf(id), () => desk.recordGeneration(id, held, generation))),
      isHeld: retryScarcity(attempt(desk.pathOf(id), () => desk.isHeld(id, held))),
    }),
  )

/** Ends the process's leases; the lock of the operating system is released in any case. */
export const closeLeases = (desk: ProcessLeases): Effect.Effect<void> =>
  attempt("owners", () => desk.close()).pipe(
    Effect.catch((fault) => Effect.logWarning(`a lock file was left behind: ${fault.message}`)),
  )
