/**
 * Port: the nodes of a cluster, as one of them sees them. It says which node owns a conversation, and calls the typed
 * operations on that node. `MemoryNodes` has several nodes in one process, `EntityNodes` those of Effect Cluster.
 *
 * Who owns a conversation may change at any time, and two nodes may disagree for a while. That is harmless: the lease in the
 * store alone decides who appends to a log (L16).
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Rpc from "effect/rpc/Rpc"
import type { Operation } from "./ConversationOperations.ts"
import type { NodeUnreachable } from "./NodeErrors.ts"

/** An operation as a function; that of a stream is carried out while the stream is read. */
type Call<R extends Operation, E> = (
  payload: Rpc.Payload<R>,
) => [Rpc.SuccessChunk<R>] extends [never]
  ? Effect.Effect<Rpc.Success<R>, Rpc.Error<R> | E>
  : Stream.Stream<Rpc.SuccessChunk<R>, Rpc.ErrorExit<R> | E>

/** The operations on a conversation. They fail with the errors of their definitions, and with `E`. */
export type ConversationCalls<E = never> = {
  readonly [R in Operation as R["_tag"]]: Call<R, E>
}

/** The shards by which conversations are spread over the nodes. */
export interface Shards {
  /** Number of the shards that this node has now. */
  readonly owned: () => number
  /** Number of the shard of a conversation. */
  readonly of: (id: ConversationId) => number
}

/** The nodes of a cluster. */
export class Nodes extends Context.Service<
  Nodes,
  {
    /** Name of this node, for people. */
    readonly self: string
    /** True if this node owns the conversation, as far as it knows. Costs little: it is on the path of every request. */
    readonly owns: (id: ConversationId) => boolean
    /** True if one node owns both conversations, as far as this node knows. False where it does not know. */
    readonly sameOwner: (id: ConversationId, other: ConversationId) => boolean
    /** Absent where conversations are spread without shards. */
    readonly shards?: Shards | undefined
    /**
     * The operations on the node that owns the conversation, wherever it is. A call fails with `NodeUnreachable` in bounded
     * time where the node does not respond; it never hangs because a node has ended.
     */
    readonly calls: (id: ConversationId) => ConversationCalls<NodeUnreachable>
    /** Carries out the operations that other nodes call here, until the scope closes. Called once. */
    readonly serve: (calls: ConversationCalls) => Effect.Effect<void, never, Scope.Scope>
    /**
     * Owns nothing from now on: other nodes own what this one did. The node can still call others, and carries on with what
     * others have called it for.
     */
    readonly leave: Effect.Effect<void>
  }
>()("@colloquy/cluster/Nodes") {}
