/**
 * Port: who writes a conversation (L16). A lease is held by a process for as long as it lives and wants it; the death of the
 * process ends it, whatever it was doing. `node/NodeLeases.ts` lets the operating system say who is alive.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { LeaseHeld } from "@colloquy/core/StoreErrors"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { FileFault } from "./Files.ts"

export interface Lease {
  /** True when it was that of an owner who died with it. */
  readonly inherited: boolean
  /** Of the writer that died with it, as far as it told; else 0. */
  readonly lastGeneration: number
  /** For whoever takes it over when this process dies without having written. */
  readonly recordGeneration: (generation: number) => Effect.Effect<void, FileFault>
  /**
   * Asked before each append. False once another owner has it, or its file is gone. Fails when that cannot be found out:
   * the lease is not lost then, and nothing may be appended before the question is answered.
   */
  readonly isHeld: Effect.Effect<boolean, FileFault>
}

export class Leases extends Context.Service<
  Leases,
  {
    /**
     * At once or not at all; given back with the scope. That of a dead owner is taken over. Fails when it cannot be found
     * out whether another owner is alive; the lease is not taken then.
     */
    readonly take: (id: ConversationId) => Effect.Effect<Lease, LeaseHeld | FileFault, Scope.Scope>
  }
>()("@colloquy/store/Leases") {}
