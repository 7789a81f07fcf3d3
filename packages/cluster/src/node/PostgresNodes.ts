/**
 * A node of a cluster on one PostgreSQL database: runners find each other and keep their shards there, messages that must
 * not be lost wait there, and calls pass between the nodes over sockets, without authentication or encryption.
 *
 * The nodes of one schema are one cluster. Another schema of the same database has another one, which shares nothing with it.
 *
 * A node that is killed is found out within two seconds (`RefusedNodes.ts`), and one whose machine has vanished when its
 * heartbeat is six seconds old. A node that cannot reach the database for so long gives up what it has; on a busy machine it
 * must not do so by mistake, since all of its conversations would move.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerServer from "effect/cluster/RunnerServer"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as RpcServer from "effect/rpc/RpcServer"
import * as SocketServer from "effect/socket/SocketServer"
import { ConversationRpcs } from "../ConversationOperations.ts"
import { boundedLayer } from "../BoundedEnd.ts"
import * as EntityNodes from "../EntityNodes.ts"
import * as DirectCalls from "../internal/DirectCalls.ts"
import * as Membership from "../internal/Membership.ts"
import { removing } from "./AnsweredMessages.ts"
import * as EnoughConnections from "./EnoughConnections.ts"
import * as KeptSessions from "./KeptSessions.ts"
import * as LeavingRunner from "./LeavingRunner.ts"
import * as NodeRows from "./NodeRows.ts"
import * as NodeSockets from "./NodeSockets.ts"
import * as RefusedNodes from "./RefusedNodes.ts"
import * as OwnAddress from "./OwnAddress.ts"
import { prefixOfSchema } from "./SchemaPrefix.ts"
import * as WholeLines from "./WholeLines.ts"

/** An address of a node. */
export interface NodeAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  /** 0: any free one to listen on, and the one on which the node listens for the others. */
  readonly port: number
}

/** Where a node is, and how it behaves. */
export interface PostgresNodesOptions extends NodeAddress {
  /** Where this node takes the calls of the others. Default: `host` and `port`, which are where the others reach it. */
  readonly listen?: NodeAddress
  /** The same on every node of a cluster. Default 60. */
  readonly shards?: number
  /** How long the shards of a node that has stopped stay its own. Default 6 seconds. */
  readonly lockExpiration?: Duration.Input
}

/** As much as the largest record of a log, with room for its encoding. */
const maxMessageBytes = 256 * 1024 * 1024

/**
 * Divided evenly by most small numbers of nodes. Each shard that moves takes some statements on one connection: many more
 * would take a busy database longer than a third of the lock's expiration, after which a node takes its locks for lost.
 */
const defaultShards = 60

/** Listens in a scope of its own, which ends when the node leaves. */
const listening = Effect.fnUntraced(function* ({ host, port }: NodeAddress) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const server = yield* Scope.provide(NodeSockets.listen(host, port), scope)
  const bound = server.address._tag === "UnixPathAddress" ? port : server.address.port
  const layer = Layer.effect(
    SocketServer.SocketServer,
    Effect.acquireRelease(Effect.succeed(server), () => Scope.close(scope, Exit.void)),
  )
  return { layer, port: bound }
})

const configOf = (
  { host, lockExpiration = "6 seconds", shards = defaultShards }: PostgresNodesOptions,
  port: number,
) =>
  ShardingConfig.layer({
    runnerAddress: Option.some(RunnerAddress.make(host, port)),
    shardsPerGroup: shards,
    shardLockExpiration: lockExpiration,
    shardLockRefreshInterval: "2 seconds",
    // Conversations of a node that leaves or joins wait for this; it is one short statement.
    refreshAssignmentsInterval: "250 millis",
    entityTerminationTimeout: "2 seconds",
    // A message that was sent while its shard moved is found by this.
    entityMessagePollInterval: "1 second",
    // Nodes that cannot reach each other find out by this, although each reaches the database.
    runnerHealthCheckInterval: "5 seconds",
  })

const watching = Layer.effectDiscard(Effect.forkScoped(RefusedNodes.watch))

/** The calls of other nodes: those of Effect Cluster, the direct ones, and the question which node this is. */
const servedBy = (number: number) =>
  RpcServer.layer(Runners.Rpcs.merge(ConversationRpcs, OwnAddress.NodeRpcs), {
    disableTracing: true,
    disableFatalDefects: true,
  }).pipe(Layer.provide([RunnerServer.layerHandlers, OwnAddress.handlers(number)]))

const shardingOf = (
  options: PostgresNodesOptions,
  port: number,
  prefix: string,
  number: number,
  server: Layer.Layer<SocketServer.SocketServer>,
) =>
  // The node responds to its own question.
  Layer.mergeAll(Layer.provideMerge(OwnAddress.layer(number), servedBy(number)), watching).pipe(
    Layer.provideMerge(Layer.provideMerge(Membership.of(Sharding.layer), Runners.layerRpc)),
    Layer.provide(RpcServer.layerProtocolSocketServer),
    Layer.provideMerge(DirectCalls.layer),
    Layer.provide([server, NodeSockets.clientLayer]),
    Layer.provide(
      RunnerHealth.layerPing.pipe(
        Layer.provide(Runners.layerRpc),
        Layer.provide(NodeSockets.clientLayer),
      ),
    ),
    Layer.provide(
      SqlMessageStorage.layerWith({ prefix }).pipe(Layer.provide(NodeCrypto.layerDigest)),
    ),
    Layer.provide(Layer.provide(LeavingRunner.layer, SqlRunnerStorage.layerWith({ prefix }))),
    Layer.provide(configOf(options, port)),
    // Events and ops are unions that the binary layout of Effect cannot tell apart.
    Layer.provide(WholeLines.layer(maxMessageBytes)),
  )

const joining = (options: PostgresNodesOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* EnoughConnections.check
      const server = yield* listening(options.listen ?? options)
      yield* KeptSessions.check
      const prefix = yield* prefixOfSchema
      yield* Effect.forkScoped(removing(prefix))
      const port = options.port === 0 ? server.port : options.port
      const address = `${options.host}:${port}`
      const number = yield* OwnAddress.newNumber
      const row = yield* NodeRows.claim(address, String(number))
      const nodes = EntityNodes.layer(
        address,
        shardingOf(options, port, prefix, number, server.layer),
        options.shards ?? defaultShards,
      )
      return Layer.merge(nodes, Layer.succeed(NodeRows.NodeRow, row))
    }),
  )

/** Time for responses to nodes that do not read them, and for the row of the node, which the database may not respond to. */
const ending = { name: "the server for the other nodes", within: "2 seconds" } as const

/**
 * Layer of the node. Needs a client of the database that the store uses as well. Fails with `SocketServerError` where it
 * cannot listen, with `NodeAddressTaken` where another node is reached at its address, with `SessionNotKept` where its
 * connections pass a pooler that shares sessions, and with `TooFewConnections` where the client may make fewer than three.
 */
export const layer = (options: PostgresNodesOptions) => boundedLayer(joining(options), ending)
