/** The cluster that the configuration of a server names. Without one nothing of clusters is loaded. */
import * as Result from "effect/Result"
import type { ConversationPlace } from "../Application.ts"
import type { ClusterOptions } from "../args/ClusterOptions.ts"
import { parseNodeAddress } from "../args/Addresses.ts"
import { isLoopback } from "../http/BindPolicy.ts"
import type { Started } from "../server/Started.ts"
import { oneLine } from "@colloquy/protocol/text/Shortened"
import type { ClusterError } from "./ClusterPlace.ts"
import { servedCluster } from "./ServedCluster.ts"

/** What a server needs to be a node. */
export interface ConfiguredCluster {
  readonly place: ConversationPlace<ClusterError>
  /** Most milliseconds for which a shutdown waits for turns. */
  readonly drainMs: number
  /** What the operator must see to; undefined if nothing. */
  readonly warning: string | undefined
}

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
  const loaded = await servedCluster(source.tree, options)
  if (Result.isFailure(loaded)) return `error loading config: ${oneLine(loaded.failure.message)}`
  const cluster = loaded.success
  if (cluster === undefined) return undefined
  const { defaultDrainMs } = await import("../args/ClusterOptions.ts")
  const { make } = await import("./ClusterPlace.ts")
  return {
    place: make(cluster),
    drainMs: cluster.drain_ms ?? defaultDrainMs,
    warning: listenWarning(cluster),
  }
}
