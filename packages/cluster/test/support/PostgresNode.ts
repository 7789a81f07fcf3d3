/** A node of Effect Cluster over a socket and a PostgreSQL database, whose model answers at once or as it is told. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as SqlStore from "@colloquy/store-sql/SqlStore"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as ClusterManager from "../../src/ClusterManager.ts"
import * as NodeWorkspaces from "../../src/node/NodeWorkspaces.ts"
import * as PostgresNotices from "../../src/node/PostgresNotices.ts"
import * as PostgresNodes from "../../src/node/PostgresNodes.ts"
import { Nodes } from "../../src/Nodes.ts"
import { settings as scripted } from "./TwoNodes.ts"

/** Number of shards of the cluster. */
const shards = 30

/** Settings of a conversation whose directory every node of this machine has. */
export const settings = { ...scripted, cwd: "/tmp" }

/** Starts a node on a free port. It leaves the cluster when it is closed. */
export const startNode = Effect.fnUntraced(function* (
  database: string,
  model: Layer.Layer<ModelClient>,
  tools: ToolRuntime["Service"] = ToolRuntime.simple({
    specs: () => [],
    run: () => Effect.succeed("ran"),
  }),
  place: Partial<PostgresNodes.PostgresNodesOptions> = {},
  options: ClusterManager.ClusterManagerOptions = {},
  maxConnections = 5,
) {
  const scope = yield* Scope.make()
  const layer = ClusterManager.layer(options).pipe(
    Layer.provideMerge(PostgresNodes.layer({ host: "127.0.0.1", port: 0, shards, ...place })),
    Layer.provide(PostgresNotices.layer),
    Layer.provide(NodeWorkspaces.layer),
    Layer.provide(IdGenerator.layer),
    Layer.provide(SqlStore.layer()),
    Layer.provide(
      SqlStore.clientLayer(PgClient.layer({ url: Redacted.make(database), maxConnections })),
    ),
    Layer.provide(scriptedResolver(settings)),
    Layer.provide(Layer.succeed(ToolRuntime, tools)),
    Layer.provide(model),
  )
  const services = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
  return {
    manager: Context.get(services, ConversationManager),
    nodes: Context.get(services, Nodes),
    close: Scope.close(scope, Exit.void),
  }
})

/** A node that runs. */
export type StartedNode = Effect.Success<ReturnType<typeof startNode>>

/** Resolves when the nodes have all shards, and each of them has some. */
export const untilShared = (...nodes: ReadonlyArray<StartedNode>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const owned = nodes.map((node) => node.nodes.shards?.owned() ?? 0)
    const isShared =
      owned.every((count) => count > 0) && owned.reduce((sum, count) => sum + count, 0) === shards
    return isShared
      ? Effect.void
      : Effect.andThen(Effect.sleep("100 millis"), untilShared(...nodes))
  })
