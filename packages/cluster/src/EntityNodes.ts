/**
 * The nodes of Effect Cluster: a conversation is an entity, addressed by its id, and the runner of its shard owns it. The
 * entity says at which address that is, and gets the messages that must not be lost. All other operations are called at this
 * address, which is asked for again when its node responds that it does not have the conversation, or does not respond.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type {
  AlreadyProcessingMessage,
  EntityNotAssignedToRunner,
  MailboxFull,
  PersistenceError,
} from "effect/cluster/ClusterError"
import * as Entity from "effect/cluster/Entity"
import * as EntityId from "effect/cluster/EntityId"
import * as ShardId from "effect/cluster/ShardId"
import { Sharding } from "effect/cluster/Sharding"
import type { RunnerAddress } from "effect/cluster/RunnerAddress"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import { ConversationEntity } from "./ConversationOperations.ts"
import { type CallsAt, DirectCalls } from "./internal/DirectCalls.ts"
import { Membership } from "./internal/Membership.ts"
import { isMoving } from "./internal/Moving.ts"
import { NodeUnreachable } from "./NodeErrors.ts"
import { type ConversationCalls, Nodes } from "./Nodes.ts"

/** An entity without calls ends after this time; it costs a fiber and nothing else. */
const maxIdleTime = Duration.minutes(1)

/**
 * Longest wait for a response: a removal takes up to twelve seconds. A node that was killed is found out by the cluster
 * sooner.
 */
const callTimeout = Duration.seconds(15)

/**
 * Longest wait for the address of an owner, which it says without any other work. It is asked for again then, because the
 * conversation may have moved from a node that does not respond.
 */
const locateTimeout = Duration.seconds(1)

/** Failures of the cluster itself; a caller may try again after each. */
const clusterErrors: ReadonlySet<string> = new Set([
  "MailboxFull",
  "AlreadyProcessingMessage",
  "PersistenceError",
  "EntityNotAssignedToRunner",
  "RpcClientError",
])

type ClusterError =
  | AlreadyProcessingMessage
  | EntityNotAssignedToRunner
  | MailboxFull
  | PersistenceError
  | RpcClientError

/** The failure of a call as its caller gets it. The runner that ends interrupts what it was carrying out. */
const failureOf = <E>(
  id: ConversationId,
  cause: Cause.Cause<E | ClusterError>,
): Cause.Cause<E | NodeUnreachable> => {
  const error = cause.reasons.find((reason) => reason._tag === "Fail")?.error
  const tag = (error as { readonly _tag?: string } | undefined)?._tag
  // What is left are the errors of the operation.
  if (tag !== undefined && !clusterErrors.has(tag)) return cause as Cause.Cause<E>
  const other = Cause.hasDies(cause) ? "the call failed with a defect" : "the call was interrupted"
  return Cause.fail(new NodeUnreachable({ id, reason: tag ?? other }))
}

/** The client of the entity of a conversation. */
type EntityClient = Effect.Success<typeof ConversationEntity.client>

/** The operations at the address of a node. */
interface Owner {
  readonly address: RunnerAddress
  readonly calls: CallsAt<RpcClientError>
}

/**
 * Fails after this time, also where the effect takes longer to be interrupted: the cluster sends the interruption of a call to
 * the node that does not respond to the call.
 */
const within = <A, E>(
  id: ConversationId,
  duration: Duration.Duration,
  effect: Effect.Effect<A, E>,
): Effect.Effect<A, E | NodeUnreachable> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(effect), { startImmediately: true }), (fiber) =>
      restore(
        Effect.timeoutOrElse(Fiber.join(fiber), {
          duration,
          orElse: () => Effect.fail(new NodeUnreachable({ id, reason: "no response in time" })),
        }),
      ).pipe(Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe()))),
    ),
  )

/** What the calls of a node share. */
class Calling {
  private readonly client: EntityClient
  private readonly direct: DirectCalls["Service"]
  private readonly shardOf: (id: ConversationId) => number
  /** Addresses of the owners of shards, where they are known. One that is out of date responds with `Elsewhere`. */
  private readonly owners = new Map<number, RunnerAddress>()
  private hasLeft = false

  constructor(
    client: EntityClient,
    direct: DirectCalls["Service"],
    shardOf: (id: ConversationId) => number,
  ) {
    this.client = client
    this.direct = direct
    this.shardOf = shardOf
  }

  /** True if the owners of both conversations are known to be at one address. */
  sameOwner(id: ConversationId, other: ConversationId): boolean {
    const [one, two] = [this.shardOf(id), this.shardOf(other)]
    const address = this.owners.get(one)
    return one === two || (address !== undefined && Equal.equals(address, this.owners.get(two)))
  }

  /** Asks the entity for nothing any more. */
  leave(): void {
    this.hasLeft = true
    this.owners.clear()
  }

  /** Calls the entity, in bounded time. */
  private entity<A, E>(
    id: ConversationId,
    duration: Duration.Duration,
    use: (client: ReturnType<EntityClient>) => Effect.Effect<A, E | ClusterError>,
  ): Effect.Effect<A, E | NodeUnreachable> {
    return Effect.suspend(() => {
      if (this.hasLeft)
        return Effect.fail(new NodeUnreachable({ id, reason: "this node has left the cluster" }))
      const calling = Effect.catchCause(use(this.client(id)), (cause) =>
        Effect.failCause(failureOf(id, cause)),
      )
      return within(id, duration, calling)
    })
  }

  /** The address of the owner. */
  private locate(id: ConversationId): Effect.Effect<RunnerAddress, NodeUnreachable> {
    return Effect.suspend(() => {
      const shard = this.shardOf(id)
      const known = this.owners.get(shard)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(
        this.entity<RunnerAddress, never>(id, locateTimeout, (client) => client.Locate()),
        (owner) => Effect.sync(() => void this.owners.set(shard, owner)),
      )
    })
  }

  /** Submits a message that waits in the database until its owner has carried it out, once the owner responds. */
  submitStored(
    payload: Parameters<ConversationCalls["SubmitStored"]>[0],
  ): ReturnType<ConversationCalls<NodeUnreachable>["SubmitStored"]> {
    const { id } = payload
    // The cluster would wait for the connection to a node that does not respond, although another one has taken over.
    return Effect.andThen(
      this.locate(id),
      this.entity(id, callTimeout, (client) => client.SubmitStored(payload)),
    )
  }

  /** The operations at the address of the owner. */
  at(id: ConversationId): Effect.Effect<Owner, NodeUnreachable, Scope.Scope> {
    return Effect.flatMap(this.locate(id), (address) =>
      Effect.map(this.direct.at(address), (calls) => ({ address, calls })),
    )
  }

  /** The failure of a call at this address. The owner is looked for again before the next one. */
  failure<E>(
    id: ConversationId,
    address: RunnerAddress,
    cause: Cause.Cause<E | RpcClientError>,
  ): Effect.Effect<never, E | NodeUnreachable> {
    return Effect.suspend(() => {
      const failed = failureOf<E>(id, cause)
      if (!failed.reasons.some((reason) => reason._tag === "Fail" && isMoving(reason.error)))
        return Effect.failCause(failed)
      const shard = this.shardOf(id)
      // Another call may have found the next owner.
      if (this.owners.get(shard) === address) this.owners.delete(shard)
      const disconnecting = failed === cause ? Effect.void : this.direct.disconnect(address)
      return Effect.andThen(disconnecting, Effect.failCause(failed))
    })
  }
}

/** The operations on one conversation, wherever it is. */
const remoteCalls = (id: ConversationId, calling: Calling): ConversationCalls<NodeUnreachable> => {
  const ask = <A, E>(
    use: (calls: CallsAt<RpcClientError>) => Effect.Effect<A, E | RpcClientError>,
  ): Effect.Effect<A, E | NodeUnreachable> =>
    Effect.scoped(
      Effect.flatMap(calling.at(id), ({ address, calls }) =>
        Effect.catchCause(use(calls), (cause) => calling.failure(id, address, cause)),
      ),
    )
  const read = <A, E>(
    use: (calls: CallsAt<RpcClientError>) => Stream.Stream<A, E | RpcClientError>,
  ): Stream.Stream<A, E | NodeUnreachable> =>
    Stream.unwrap(
      Effect.map(calling.at(id), ({ address, calls }) =>
        Stream.catchCause(use(calls), (cause) =>
          Stream.fromEffect(calling.failure(id, address, cause)),
        ),
      ),
    )
  return {
    Load: (payload) => ask((calls) => calls.Load(payload)),
    Submit: (payload) => ask((calls) => calls.Submit(payload)),
    RunTurn: (payload) => ask((calls) => calls.RunTurn(payload)),
    SubmitStored: (payload) => calling.submitStored(payload),
    Cancel: (payload) => ask((calls) => calls.Cancel(payload)),
    Attach: (payload) => read((calls) => calls.Attach(payload)),
    ReadState: (payload) => ask((calls) => calls.ReadState(payload)),
    Metadata: (payload) => ask((calls) => calls.Metadata(payload)),
    History: (payload) => read((calls) => calls.History(payload)),
    Fork: (payload) => ask((calls) => calls.Fork(payload)),
    Remove: (payload) => ask((calls) => calls.Remove(payload)),
    Archive: (payload) => ask((calls) => calls.Archive(payload)),
    Unarchive: (payload) => ask((calls) => calls.Unarchive(payload)),
  }
}

/** The shard of a conversation. */
const shardOf = (sharding: Sharding["Service"], id: string): ShardId.ShardId => {
  const entity = EntityId.make(id)
  return sharding.getShardId(entity, ConversationEntity.getShardGroup(entity))
}

/** The shards of conversations, of which this node has some. */
const shardsOf = (sharding: Sharding["Service"], count: number): Nodes["Service"]["shards"] => {
  const { group } = shardOf(sharding, "")
  const all = Array.from({ length: count }, (_, index) => ShardId.make(group, index + 1))
  return {
    owned: () => all.filter((shard) => sharding.hasShardId(shard)).length,
    of: (id) => shardOf(sharding, id).id,
  }
}

const make = Effect.fnUntraced(function* <E, R>(
  name: string,
  layer: Layer.Layer<Sharding | Membership | DirectCalls, E, R>,
  shards: number | undefined,
): Effect.fn.Return<Nodes["Service"], E, R | Scope.Scope> {
  const context = yield* Layer.build(layer)
  const sharding = Context.get(context, Sharding)
  const direct = Context.get(context, DirectCalls)
  const client = yield* Effect.provideService(ConversationEntity.client, Sharding, sharding)
  const calling = new Calling(client, direct, (id) => shardOf(sharding, id).id)
  let hasLeft = false
  const owns = (id: ConversationId) => !hasLeft && sharding.hasShardId(shardOf(sharding, id))
  return {
    self: name,
    ...(shards === undefined ? {} : { shards: shardsOf(sharding, shards) }),
    owns,
    sameOwner: (id, other) => (owns(id) && owns(other)) || calling.sameOwner(id, other),
    calls: (id) => remoteCalls(id, calling),
    serve: (calls) => {
      direct.serve(calls, owns)
      return sharding.registerEntity(
        ConversationEntity,
        Effect.map(Entity.CurrentRunnerAddress, (address) =>
          ConversationEntity.of({
            Locate: () => Effect.succeed(address),
            SubmitStored: ({ payload }) => calls.SubmitStored(payload),
          }),
        ),
        { concurrency: "unbounded", maxIdleTime, disableFatalDefects: true },
      )
    },
    leave: Effect.suspend(() => {
      hasLeft = true
      calling.leave()
      return Context.get(context, Membership).end
    }),
  }
})

/**
 * This process as a node of the cluster that `sharding` joins. It leaves with the layer, or when its manager shuts down.
 *
 * @param name of this node, for people
 * @param sharding of which the node is a member until it leaves, and the direct calls of this node
 * @param shards number of shards of the cluster; without it the node does not say how many it has
 */
export const layer = <E, R>(
  name: string,
  sharding: Layer.Layer<Sharding | Membership | DirectCalls, E, R>,
  shards?: number,
): Layer.Layer<Nodes, E, R> => Layer.effect(Nodes, make(name, sharding, shards))
