/**
 * The nodes of Effect Cluster: a conversation is an entity, addressed by its id, and the runner of its shard owns it. The
 * entity only passes calls on to the manager of its node; what a conversation is lives there and in the store.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Entity from "effect/cluster/Entity"
import * as EntityId from "effect/cluster/EntityId"
import * as ShardId from "effect/cluster/ShardId"
import { Sharding } from "effect/cluster/Sharding"
import { operations } from "./ConversationOperations.ts"
import { NodeUnreachable } from "./NodeErrors.ts"
import { type ConversationCalls, Nodes } from "./Nodes.ts"

/** A conversation as an entity of Effect Cluster. */
export const ConversationEntity = Entity.make("Conversation", [...operations])

/** An entity without calls ends after this time; it costs a fiber and nothing else. */
const maxIdleTime = Duration.minutes(1)

/**
 * Longest wait for a response: a removal takes up to twelve seconds. A node that was killed is found out by the cluster
 * sooner.
 */
const callTimeout = Duration.seconds(15)

/** Failures of the cluster itself; a caller may try again after each. */
const clusterErrors: ReadonlySet<string> = new Set([
  "MailboxFull",
  "AlreadyProcessingMessage",
  "PersistenceError",
  "EntityNotAssignedToRunner",
])

/** The failure of a call as its caller gets it. The runner that ends interrupts what it was carrying out. */
const failureOf = (id: ConversationId, cause: Cause.Cause<unknown>): Cause.Cause<unknown> => {
  const error = cause.reasons.find((reason) => reason._tag === "Fail")?.error
  const tag = (error as { readonly _tag?: string } | undefined)?._tag
  if (tag !== undefined && !clusterErrors.has(tag)) return cause
  const other = Cause.hasDies(cause) ? "the call failed with a defect" : "the call was interrupted"
  return Cause.fail(new NodeUnreachable({ id, reason: tag ?? other }))
}

/** An operation of the client of an entity, or of a node. */
type AnyCall = (
  payload: unknown,
) => Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown>

const unreachable = (id: ConversationId) =>
  new NodeUnreachable({ id, reason: "this node has left the cluster" })

/** The operations of the entity, with `NodeUnreachable` for what goes wrong between the nodes. */
const callsOf = (
  id: ConversationId,
  client: Readonly<Record<string, AnyCall>>,
): ConversationCalls<NodeUnreachable> => {
  const all = operations.map(({ _tag }) => {
    const call: AnyCall = (payload) => {
      const response = client[_tag]?.(payload) ?? Effect.fail(unreachable(id))
      if (Stream.isStream(response)) {
        return Stream.catchCause(response, (cause) => Stream.failCause(failureOf(id, cause)))
      }
      return response.pipe(
        Effect.catchCause((cause) => Effect.failCause(failureOf(id, cause))),
        Effect.timeoutOrElse({
          duration: callTimeout,
          orElse: () => Effect.fail(new NodeUnreachable({ id, reason: "no response in time" })),
        }),
      )
    }
    return [_tag, call]
  })
  // One member per operation, each of the type that its definition gives.
  return Object.fromEntries(all) as ConversationCalls<NodeUnreachable>
}

/** The shards of conversations, of which this node has some. */
const shardsOf = (sharding: Sharding["Service"], count: number): Nodes["Service"]["shards"] => {
  const shardOf = (id: string) => {
    const entity = EntityId.make(id)
    return sharding.getShardId(entity, ConversationEntity.getShardGroup(entity))
  }
  const { group } = shardOf("")
  const all = Array.from({ length: count }, (_, index) => ShardId.make(group, index + 1))
  return {
    owned: () => all.filter((shard) => sharding.hasShardId(shard)).length,
    of: (id) => shardOf(id).id,
  }
}

const make = Effect.fnUntraced(function* <E, R>(
  name: string,
  layer: Layer.Layer<Sharding, E, R>,
  shards: number | undefined,
): Effect.fn.Return<Nodes["Service"], E, R | Scope.Scope> {
  // A scope of its own, so that the node can leave while its turns still run.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = yield* Layer.buildWithScope(layer, scope)
  const sharding = Context.get(context, Sharding)
  const client = yield* Effect.provideService(ConversationEntity.client, Sharding, sharding)
  let hasLeft = false
  return {
    self: name,
    ...(shards === undefined ? {} : { shards: shardsOf(sharding, shards) }),
    owns: (id) => {
      if (hasLeft) return false
      const entity = EntityId.make(id)
      return sharding.hasShardId(
        sharding.getShardId(entity, ConversationEntity.getShardGroup(entity)),
      )
    },
    // The client has one function per operation, whose errors are those of the operation and of the cluster.
    calls: (id) =>
      callsOf(id, hasLeft ? {} : (client(id) as unknown as Readonly<Record<string, AnyCall>>)),
    serve: (calls) =>
      sharding.registerEntity(ConversationEntity, Effect.succeed(handlersOf(calls)), {
        concurrency: "unbounded",
        maxIdleTime,
        disableFatalDefects: true,
      }),
    leave: Effect.suspend(() => {
      hasLeft = true
      return Scope.close(scope, Exit.void)
    }),
  }
})

/** The handlers of the entity: each gets an envelope and passes its payload on. */
const handlersOf = (
  calls: ConversationCalls,
): Entity.HandlersFrom<(typeof operations)[number]> => ({
  Load: ({ payload }) => calls.Load(payload),
  Submit: ({ payload }) => calls.Submit(payload),
  Cancel: ({ payload }) => calls.Cancel(payload),
  Attach: ({ payload }) => calls.Attach(payload),
  ReadState: ({ payload }) => calls.ReadState(payload),
  Fork: ({ payload }) => calls.Fork(payload),
  Remove: ({ payload }) => calls.Remove(payload),
  Archive: ({ payload }) => calls.Archive(payload),
  Unarchive: ({ payload }) => calls.Unarchive(payload),
})

/**
 * This process as a node of the cluster that `sharding` joins. It leaves with the layer, or when its manager shuts down.
 *
 * @param name of this node, for people
 * @param shards number of shards of the cluster; without it the node does not say how many it has
 */
export const layer = <E, R>(
  name: string,
  sharding: Layer.Layer<Sharding, E, R>,
  shards?: number,
): Layer.Layer<Nodes, E, R> => Layer.effect(Nodes, make(name, sharding, shards))
