/**
 * Port: short texts from one process to all others that serve the same conversations, such as what the clients of each are
 * notified of. Without it there are no other processes.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Owner } from "./ConversationStore.ts"

/** See the header. A text may be lost while a process cannot be reached; those of one process arrive in their order. */
export interface Broadcasts {
  /** Sends a text that belongs to this owner to the other processes. Returns at once. */
  readonly send: (owner: Owner, text: string) => void
  /** Calls `listener`, which returns at once, for each text of another process, until the scope closes. */
  readonly watch: (
    listener: (owner: Owner, text: string) => void,
  ) => Effect.Effect<void, never, Scope.Scope>
}

/** The other processes, if there can be any. Read once by each server, when it starts. */
export const Broadcasts = Context.Reference<Broadcasts | undefined>("@colloquy/core/Broadcasts", {
  defaultValue: () => undefined,
})
