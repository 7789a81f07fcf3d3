/** The table `cluster` as a server that listens loads it. Without one nothing of clusters is loaded. */
import { ConfigFault } from "@colloquy/config/ConfigFault"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Result from "effect/Result"
import type { ClusterOptions } from "../args/ClusterOptions.ts"
import type { ServerOptions } from "../args/ServerOptions.ts"

/** Why the cluster cannot be used with the other keys, in one line; undefined if it can. */
export const storeProblem = (
  { database }: ClusterOptions,
  { conversation_store: store = database }: ServerOptions,
): string | undefined =>
  store === database
    ? undefined
    : "`conversation_store` names another place than `cluster.database`, where a cluster stores conversations: remove the key, or give both the same address"

/** The options of the cluster; undefined without one. Fails with the first key that is not valid, or that another excludes. */
export const servedCluster = async (
  tree: ConfigTree.ConfigTree,
  options: ServerOptions,
): Promise<Result.Result<ClusterOptions | undefined, ConfigFault>> => {
  if (ConfigTree.get(tree, "cluster") === undefined) return Result.succeed(undefined)
  const { clusterOptions } = await import("../args/ClusterOptions.ts")
  return Result.flatMap(clusterOptions(tree), (cluster) => {
    const message = cluster === undefined ? undefined : storeProblem(cluster, options)
    return message === undefined
      ? Result.succeed(cluster)
      : Result.fail(new ConfigFault({ message, key: "conversation_store" }))
  })
}
