/** The cluster that the configuration of a server names. Without one nothing of clusters is loaded. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Result from "effect/Result"
import type { ConversationPlace } from "../Application.ts"
import type { ClusterOptions } from "../args/ClusterOptions.ts"
import { parseNodeAddress } from "../args/Addresses.ts"
import type { ServerOptions } from "../args/ServerOptions.ts"
import { isLoopback } from "../http/BindPolicy.ts"
import type { Started } from "../server/Started.ts"
import { oneLine } from "../server/Startup.ts"
import type { ClusterError } from "./ClusterPlace.ts"

/** What a server needs to be a node. */
export interface ConfiguredCluster {
  readonly place: ConversationPlace<ClusterError>
  /** Most milliseconds for which a shutdown waits for turns. */
  readonly drainMs: number
  /** What the operator must see to; undefined if nothing. */
  readonly warning: string | undefined
}

/** Why the cluster cannot be used with the other keys, in one line; undefined if it can. */
export const storeProblem = (
  { database }: ClusterOptions,
  { conversation_store: store = database }: ServerOptions,
): string | undefined =>
  store === database
    ? undefined
    : "`conversation_store` names another place than `cluster.database`, where a cluster stores conversations: remove the key, or give both the same address"

/** A warning about a port that more than the nodes may reach; undefined if only this machine can. */
export const listenWarning = ({ listen = "" }: ClusterOptions): string | undefined => {
  const host = parseNodeAddress(listen)?.host
  return host === undefined || isLoopback(host)
    ? undefined
    : `${listen} takes calls of other nodes without authentication and encryption: only they may reach it (\`cluster.listen\`)`
}

/** The cluster, or in one line why the server cannot be a node of it; undefined if the configuration names none. */
export const configuredCluster = async ({
  startup: { options, source },
}: Started): Promise<string | ConfiguredCluster | undefined> => {
  if (ConfigTree.get(source.tree, "cluster") === undefined) return undefined
  const { clusterOptions, defaultDrainMs } = await import("../args/ClusterOptions.ts")
  const decoded = clusterOptions(source.tree)
  if (Result.isFailure(decoded)) return `error loading config: ${oneLine(decoded.failure.message)}`
  const cluster = decoded.success
  if (cluster === undefined) return undefined
  const problem = storeProblem(cluster, options)
  if (problem !== undefined) return problem
  const { make } = await import("./ClusterPlace.ts")
  return {
    place: make(cluster),
    drainMs: cluster.drain_ms ?? defaultDrainMs,
    warning: listenWarning(cluster),
  }
}
