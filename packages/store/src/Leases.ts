/**
 * Port: the lease of a conversation, which is the right to append to its log (L16). A process holds
 * a lease until it releases it or ends; the end of the process ends its leases, however it ends. In
 * `node/NodeLeases.ts` the operating system decides which processes are alive.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { FileFault } from "./Files.ts"

/** A lease that this process holds. */
export interface Lease {
  /** True when the lease was taken over from a process that ended without releasing it. */
  readonly inherited: boolean
  /**
   * Generation of the last writer, as far as it was recorded in the lease that was taken over;
   * otherwise 0.
   */
  readonly lastGeneration: number
  /**
   * Records the generation of the new writer in the lease, for a process that takes the lease over
   * if this one ends before it has written anything.
   */
  readonly recordGeneration: (generation: number) => Effect.Effect<void, FileFault>
  /**
   * Checked before each append. False once another process has the lease or the lease file is gone.
   * Fails when that cannot be determined; the lease is not lost then, but the caller must not
   * append until a check succeeds.
   */
  readonly isHeld: Effect.Effect<boolean, FileFault>
}

/** The leases of all conversations, as seen by this process. */
export class Leases extends Context.Service<
  Leases,
  {
    /**
     * Takes the lease of a conversation immediately or fails with `LeaseHeld`; never waits until
     * the holder releases it. Takes over the lease of a process that has ended. The lease is
     * released with the scope. Fails with `FileFault` when it cannot be determined whether the
     * holder is alive; the lease is not taken then.
     */
    readonly take: (id: ConversationId) => Effect.Effect<Lease, LeaseHeld | FileFault, Scope.Scope>
  }
>()("@colloquy/store/Leases") {}
