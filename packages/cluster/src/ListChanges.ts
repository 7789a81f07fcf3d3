/**
 * Port: tells the nodes of a cluster that the list of conversations has changed. A message may be lost while a node cannot be
 * reached; the list itself is in the store.
 */
import type { Owner } from "@colloquy/core/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** Changes of the list of conversations, on every node. */
export class ListChanges extends Context.Service<
  ListChanges,
  {
    /** Tells the other nodes that the list of this owner has changed. Never fails and never waits for them. */
    readonly announce: (owner: Owner) => Effect.Effect<void>
    /** Calls `listener` after each change on another node, with the owner. Until the scope closes. */
    readonly watch: (listener: (owner: Owner) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@colloquy/cluster/ListChanges") {
  /** Announces nothing: for one node alone. */
  static readonly layerNone = Layer.succeed(this, {
    announce: () => Effect.void,
    watch: () => Effect.void,
  })
}
