/**
 * The keys of the table `cluster`: servers that share their conversations. Only a server that listens reads them, so their
 * schema is made at its first use.
 */
import { decode } from "@colloquy/config/ConfigSchema"
import { type ConfigFault, faultAt } from "@colloquy/config/ConfigFault"
import { type ConfigTree, get, isTable } from "@colloquy/config/ConfigTree"
import { key, keyOr, textThat, timerMs } from "@colloquy/config/KeySchemas"
import { once } from "@colloquy/protocol/Once"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { expectedDatabase, isPostgres, parseNodeAddress, postgresAddress } from "./Addresses.ts"
import { misspeltKey } from "./MisspeltKey.ts"

const Database = textThat(isPostgres, expectedDatabase)

const Address = textThat((text) => parseNodeAddress(text) !== undefined, "`HOST:PORT`")

/** How long turns go on after a signal, if not configured: with the rest of a shutdown less than Kubernetes gives. */
export const defaultDrainMs = 25_000

/** Where a node listens for the others, if not configured: any free port that only this machine reaches. */
export const defaultNodeAddress = "127.0.0.1:0"

/** Schema of the table. */
export const clusterSchema = once(() =>
  Schema.Struct({
    database: key(
      Database,
      `PostgreSQL database of a cluster (\`${postgresAddress}\`): the servers that name it serve each other's conversations, which are stored there.`,
    ),
    listen: keyOr(
      Address,
      defaultNodeAddress,
      "`HOST:PORT` on which this server takes calls of the others, without authentication and encryption: only they may reach it. Port 0 is any free one.",
    ),
    address: key(
      Address,
      "`HOST:PORT` by which the others reach this server; port 0 is the one on which it listens. Default: `cluster.listen`, with the name of the machine in place of `0.0.0.0` and `::`.",
    ),
    drain_ms: keyOr(
      timerMs(0),
      defaultDrainMs,
      "Milliseconds that turns may go on after a signal before the other servers of the cluster take over their conversations; at most 24 hours.",
    ),
  }),
)

/** The decoded keys of a server that is part of a cluster. */
export interface ClusterOptions extends Omit<ReturnType<typeof clusterSchema>["Type"], "database"> {
  readonly database: string
}

/**
 * Decodes the keys of the table; empty without one. A misspelt key is an error, because a server would be alone, or reached
 * by others than its nodes.
 */
export const clusterTable = (
  tree: ConfigTree,
): Result.Result<Partial<ClusterOptions>, ConfigFault> => {
  const misspelt = misspeltKey(tree, "cluster", clusterSchema().fields)
  if (misspelt !== undefined) return Result.fail(misspelt)
  const decoded = decode(Schema.Struct({ cluster: Schema.optionalKey(clusterSchema()) }), tree)
  return Result.map(decoded, ({ cluster = {} }) => cluster)
}

/** Decodes the table `cluster` of a configuration; undefined without one. Fails with the first key that is not valid. */
export const clusterOptions = (
  tree: ConfigTree,
): Result.Result<ClusterOptions | undefined, ConfigFault> => {
  const given = get(tree, "cluster")
  if (given === undefined) return Result.succeed(undefined)
  return Result.flatMap(clusterTable(tree), (cluster) => {
    const { database, ...options } = cluster
    if (database !== undefined) return Result.succeed({ database, ...options })
    const [lone] = Object.keys(options)
    if (lone !== undefined) {
      return Result.fail(faultAt(["cluster", lone], "has no effect without `cluster.database`"))
    }
    // With unknown keys only, the server would be alone.
    return isTable(given) && Object.keys(given).length > 0
      ? Result.fail(faultAt(["cluster"], "missing field `database`"))
      : Result.succeed(undefined)
  })
}
