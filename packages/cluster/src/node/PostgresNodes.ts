/**
 * A node of a cluster on one PostgreSQL database: runners find each other and keep their shards there, messages that must
 * not be lost wait there, and calls pass between the nodes over sockets.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as EntityNodes from "../EntityNodes.ts"

/** Where a node is, and how it behaves. */
export interface PostgresNodesOptions {
  /** Host by which the other nodes reach this one. */
  readonly host: string
  /** Port on which this node takes their calls. */
  readonly port: number
  /** The same on every node of a cluster. Default 300. */
  readonly shards?: number
  /** How long the shards of a node that has stopped stay its own. Default 6 seconds. */
  readonly lockExpiration?: Duration.Input
}

/** As much as the largest record of a log, with room for its encoding. */
const maxMessageBytes = 256 * 1024 * 1024

/** Layer of the node. Needs a client of the database that the store uses as well. */
export const layer = ({ host, lockExpiration = "6 seconds", port, shards }: PostgresNodesOptions) =>
  EntityNodes.layer(
    `${host}:${port}`,
    NodeClusterSocket.layer({
      storage: "sql",
      // Events and ops are unions that the binary layout of Effect cannot tell apart.
      serialization: "ndjson",
      serializationMaxBufferSize: maxMessageBytes,
      shardingConfig: {
        runnerAddress: Option.some(RunnerAddress.make(host, port)),
        ...(shards === undefined ? {} : { shardsPerGroup: shards }),
        shardLockExpiration: lockExpiration,
        shardLockRefreshInterval: "2 seconds",
        refreshAssignmentsInterval: "1 second",
        entityTerminationTimeout: "2 seconds",
      },
    }),
  )
