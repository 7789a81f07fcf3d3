/**
 * State that all connections of one server share and that only one dialect knows. The server owns the values; a dialect
 * defines them beside the code that uses them, so that nothing of a dialect is loaded before a client speaks it.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Server } from "./Server.ts"

export interface SharedState<A> {
  /**
   * Creates the value, once per server, when it is first used. What it acquires is released with the server. An
   * interruption of the caller that happens to be first does not interrupt it.
   */
  readonly make: (server: Server["Service"]) => Effect.Effect<A, never, Scope.Scope>
}
