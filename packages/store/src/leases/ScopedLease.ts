/**
 * Implements a lease of the port `Leases` with `ProcessLeases`: waits for `takers.lock` within a
 * bound, and releases the lease with the scope (L16).
 */
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { retryScarcity } from "../internal/FileErrors.ts"
import { heldUntilClosed } from "../internal/HeldUntilClosed.ts"
import { FileFault } from "../Files.ts"
import type { TakersLocked, HeldLease, ProcessLeases } from "./ProcessLeases.ts"
import type { Lease } from "../Leases.ts"

/**
 * Taking a lease takes well under a millisecond; if the lock is held for longer than this, the
 * process that holds it is stopped.
 */
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
  leases: ProcessLeases,
  id: ConversationId,
  sinceMs: number,
): Effect.Effect<HeldLease, LeaseHeld | FileFault> =>
  attempt(leases.pathOf(id), () => leases.take(id, sinceMs)).pipe(
    Effect.filterOrFail(
      (found): found is HeldLease => !("_tag" in found),
      (found) => found as LeaseHeld | TakersLocked,
    ),
    Effect.retry({ schedule: lockRetries, while: (error) => error._tag === "TakersLocked" }),
    Effect.catchTag("TakersLocked", () =>
      Effect.fail(
        new FileFault({ operation: "lease", path: leases.pathOf(id), code: "ETIMEDOUT" }),
      ),
    ),
    retryScarcity,
  )

/** A lease that could not be released is released by a later attempt; the failure is logged. */
const releaseLease = (
  leases: ProcessLeases,
  id: ConversationId,
  held: HeldLease,
): Effect.Effect<void> =>
  Effect.suspend(() => attempt(leases.pathOf(id), () => leases.release(id, held))).pipe(
    Effect.catch((fault) => Effect.logWarning(`a lease was not released: ${fault.message}`)),
  )

/** A class: its members are shared, where closures would cost every conversation memory. */
class ScopedLease implements Lease {
  private readonly leases: ProcessLeases
  private readonly id: ConversationId
  private readonly held: HeldLease

  constructor(leases: ProcessLeases, id: ConversationId, held: HeldLease) {
    this.leases = leases
    this.id = id
    this.held = held
  }

  get inherited(): boolean {
    return this.held.inherited
  }

  get lastGeneration(): number {
    return this.held.lastGeneration
  }

  recordGeneration(generation: number): Effect.Effect<void, FileFault> {
    return this.retried(() => this.leases.recordGeneration(this.id, this.held, generation))
  }

  get isHeld(): Effect.Effect<boolean, FileFault> {
    return this.retried(() => this.leases.isHeld(this.id, this.held))
  }

  private retried<A>(run: () => A): Effect.Effect<A, FileFault> {
    return retryScarcity(attempt(this.leases.pathOf(this.id), run))
  }
}

/** Takes the lease of a conversation for this process, until the scope closes. */
export const acquireLease = (
  leases: ProcessLeases,
  id: ConversationId,
  sinceMs: number,
): Effect.Effect<Lease, LeaseHeld | FileFault, Scope.Scope> =>
  Effect.map(
    heldUntilClosed(takeWithin(leases, id, sinceMs), (held) => releaseLease(leases, id, held)),
    (held) => new ScopedLease(leases, id, held),
  )

/** Ends all leases of the process. The lock of the operating system is released in any case. */
export const closeLeases = (leases: ProcessLeases): Effect.Effect<void> =>
  attempt("owners", () => leases.close()).pipe(
    Effect.catch((fault) =>
      Effect.logWarning(`a lock file could not be removed: ${fault.message}`),
    ),
  )
