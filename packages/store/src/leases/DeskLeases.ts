/** The leases of a `LeaseDesk` as the port `Leases` has them: waited for within bounds, and given back with the scope (L16). */
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { outlastScarcity } from "../internal/FileErrors.ts"
import { FileFault } from "../Files.ts"
import type { Crowded, Held, LeaseDesk } from "./LeaseDesk.ts"
import type { Lease } from "../Leases.ts"

/** Taking a lease takes well under a millisecond; a caller that waits longer waits for a process that is stopped. */
const patience = Duration.seconds(5)

const turns = Schedule.spaced("3 millis").pipe(Schedule.upTo({ duration: patience }))

const attempt = <A>(path: string, run: () => A): Effect.Effect<A, FileFault> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof FileFault
        ? error
        : new FileFault({ operation: "lease", path, code: "UNKNOWN" }),
  })

const taken = (
  desk: LeaseDesk,
  id: ConversationId,
  sinceMs: number,
): Effect.Effect<Held, LeaseHeld | FileFault> =>
  attempt(desk.pathOf(id), () => desk.take(id, sinceMs)).pipe(
    Effect.filterOrFail(
      (found): found is Held => !("_tag" in found),
      (found) => found as LeaseHeld | Crowded,
    ),
    Effect.retry({ schedule: turns, while: (error) => error._tag === "Crowded" }),
    Effect.catchTag("Crowded", () =>
      Effect.fail(new FileFault({ operation: "lease", path: desk.pathOf(id), code: "ETIMEDOUT" })),
    ),
    outlastScarcity,
  )

/** A lease that could not be given back is left to a later attempt: nothing can be done about it here. */
const givenBack = (desk: LeaseDesk, id: ConversationId, held: Held): Effect.Effect<void> =>
  attempt(desk.pathOf(id), () => desk.giveBack(id, held)).pipe(
    Effect.catch((fault) => Effect.logWarning(`a lease was not given back: ${fault.message}`)),
  )

/** The lease of a process, until the scope closes. */
export const leaseOf = (
  desk: LeaseDesk,
  id: ConversationId,
  sinceMs: number,
): Effect.Effect<Lease, LeaseHeld | FileFault, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(taken(desk, id, sinceMs), (held) => givenBack(desk, id, held)),
    (held) => ({
      inherited: held.inherited,
      lastGeneration: held.lastGeneration,
      tellGeneration: (generation) =>
        outlastScarcity(attempt(desk.pathOf(id), () => desk.tell(id, held, generation))),
      isHeld: outlastScarcity(attempt(desk.pathOf(id), () => desk.isHeld(id, held))),
    }),
  )

/** Ends the process's leases; the lock of the operating system is released in any case. */
export const closed = (desk: LeaseDesk): Effect.Effect<void> =>
  attempt("owners", () => desk.close()).pipe(
    Effect.catch((fault) => Effect.logWarning(`a lock file was left behind: ${fault.message}`)),
  )
