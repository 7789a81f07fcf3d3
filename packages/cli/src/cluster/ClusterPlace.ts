/**
 * The conversations of a server that is a node of a cluster: its store is the database of the cluster, and its manager finds
 * the node of each conversation. Loaded only where the configuration names a cluster.
 *
 * The layers are built before the server listens, and fail with one line where the node cannot join.
 */
import { boundedLayer } from "@colloquy/cluster/BoundedEnd"
import * as ClusterManager from "@colloquy/cluster/ClusterManager"
import * as NodeWorkspaces from "@colloquy/cluster/node/NodeWorkspaces"
import * as PostgresNotices from "@colloquy/cluster/node/PostgresNotices"
import * as PostgresNodes from "@colloquy/cluster/node/PostgresNodes"
import * as PostgresReports from "@colloquy/cluster/node/PostgresReports"
import * as PostgresStore from "@colloquy/store-sql/node/PostgresStore"
import * as SqlRequestCounts from "@colloquy/store-sql/SqlRequestCounts"
import { CountsUnavailable, RequestCounts } from "@colloquy/transport-http/guard/RequestCounts"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { hostname } from "node:os"
import type { ConversationPlace } from "../Application.ts"
import { type ClusterOptions, defaultDrainMs, defaultNodeAddress } from "../args/ClusterOptions.ts"
import { type NodeAddress, parseNodeAddress } from "../args/Addresses.ts"
import { codeOf } from "../config/ConfigFile.ts"
import { authorityOf, isAnyHost } from "../http/BindPolicy.ts"
import { limitProcessMemory } from "../machine/ProcessMemory.ts"

/** The node cannot join; `message` is one line that names the key at fault. */
export class ClusterError extends Data.TaggedError("ClusterError")<{ readonly message: string }> {}

/** Other nodes take over the conversations of a machine that has vanished after this, less than they take to miss it. */
const leaseFor = Duration.seconds(4)

/** Time for the end of the leases, and for connections whose statements the database does not respond to. */
const storeEnd = { name: "the conversation store", within: "3 seconds" } as const
const clientEnd = { name: "the connections to the database", within: "1 second" } as const

/** The decoded options name addresses. */
const addressOf = (text: string): NodeAddress => parseNodeAddress(text) ?? { host: text, port: 0 }

/** Where the node listens, and where the others reach it. */
export const addressesOf = ({
  address,
  listen: listening = defaultNodeAddress,
}: ClusterOptions): { readonly listen: NodeAddress; readonly reached: NodeAddress } => {
  const listen = addressOf(listening)
  if (address !== undefined) return { listen, reached: addressOf(address) }
  return { listen, reached: isAnyHost(listen.host) ? { ...listen, host: hostname() } : listen }
}

const databaseError = (error: SqlError | { readonly _tag: string; readonly message: string }) => {
  const { message } = isSqlError(error) ? PostgresStore.errorOf(error) : error
  return new ClusterError({ message: `${message} (\`cluster.database\`)` })
}

const listenError = ({ host, port }: NodeAddress, cause: unknown) =>
  new ClusterError({
    message: `cannot listen on ${authorityOf(host)}:${port} for the nodes of the cluster: ${codeOf(cause)} (\`cluster.listen\`)`,
  })

/** The layer with other errors. */
const mapError = <A, E, R, E2>(
  self: Layer.Layer<A, E, R>,
  map: (error: E) => E2,
): Layer.Layer<A, E2, R> =>
  Layer.catch(self, (error): Layer.Layer<A, E2> => Layer.unwrap(Effect.fail(map(error))))

/** Ends the process as a kill does: whoever has its address has its shards, and nothing can be handed over. */
const endBecauseTaken = ({ host, port }: NodeAddress) =>
  Effect.sync(() => {
    process.stderr.write(
      `colloquy: another node has taken over ${authorityOf(host)}:${port}, while this one did not report: it ends (\`cluster.address\`)\n`,
    )
    process.exit(1)
  })

/** The requests of principals at all nodes. */
const requestCounts = Layer.effect(
  RequestCounts,
  Effect.map(SqlRequestCounts.make, ({ add }): RequestCounts => ({
    add: (principal, requests, window) =>
      add(principal, requests, window).pipe(
        Effect.map(({ period, ...counted }) => ({ ...counted, window: period })),
        Effect.mapError(({ message }) => new CountsUnavailable({ message })),
      ),
  })),
)

/** The conversations of the node. */
export const make = (options: ClusterOptions): ConversationPlace<ClusterError> => {
  const database = Redacted.make(options.database)
  const connections = PostgresStore.clientLayer({ database })
  const client = mapError(boundedLayer(connections, clientEnd), databaseError)
  const { listen, reached } = addressesOf(options)
  const nodes = mapError(PostgresNodes.layer({ ...reached, listen }), (error) => {
    switch (error._tag) {
      case "SocketServerError":
        return listenError(listen, error.reason.cause)
      case "NodeAddressTaken":
        return new ClusterError({ message: `${error.message} (\`cluster.address\`)` })
      default:
        return databaseError(error)
    }
  })
  const notices = mapError(PostgresNotices.layer, databaseError)
  const others = Layer.mergeAll(nodes, notices, NodeWorkspaces.layer)
  const leases = boundedLayer(PostgresStore.layerOver({ leaseFor }), storeEnd)
  const store = mapError(leases, databaseError).pipe(Layer.provide(client))
  const drainWithin = Duration.millis(options.drain_ms ?? defaultDrainMs)
  return {
    // Built before the others, so that the tables are there and a database that starts is waited for.
    store,
    requestCounts: requestCounts.pipe(Layer.provide(store), Layer.provide(client)),
    manager: (conversations) =>
      Layer.suspend(() => {
        limitProcessMemory()
        const manager = ClusterManager.layer({ conversations, drainWithin })
        return mapError(PostgresReports.layer(endBecauseTaken(reached)), databaseError).pipe(
          Layer.provideMerge(manager),
          Layer.provide(others),
          Layer.provide(client),
        )
      }),
  }
}
