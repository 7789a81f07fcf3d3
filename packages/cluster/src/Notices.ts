/**
 * Port: messages from one node of a cluster to all others, in their order. A message may be lost while a node cannot be
 * reached: nothing that is recorded depends on one.
 */
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** What a node tells the others. */
export const Notice = Schema.Union([
  /** The list of the conversations of this owner has changed. */
  Schema.TaggedStruct("ListChanged", { owner: Schema.NullOr(Schema.String) }),
  /** The owner of the conversation cannot carry out an operation that ends its turn, because another node has it. */
  Schema.TaggedStruct("Needed", { id: ConversationId }),
  /** A text of the server of a node for those of the others (`Broadcasts` of core). */
  Schema.TaggedStruct("Broadcast", { owner: Schema.NullOr(Schema.String), text: Schema.String }),
])
/** See the schema. */
export type Notice = typeof Notice.Type

/** The messages between the nodes of a cluster. */
export class Notices extends Context.Service<
  Notices,
  {
    /** Tells the other nodes. Never fails and never waits for them. */
    readonly send: (notice: Notice) => Effect.Effect<void>
    /** Calls `listener` for each message of another node, until the scope closes. */
    readonly watch: (listener: (notice: Notice) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@colloquy/cluster/Notices") {
  /** Sends nothing: for one node alone. */
  static readonly layerNone = Layer.succeed(this, {
    send: () => Effect.void,
    watch: () => Effect.void,
  })
}
