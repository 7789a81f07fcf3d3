/** Two nodes of Effect Cluster over sockets, on a real PostgreSQL server. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as SqlStore from "@colloquy/store-sql/SqlStore"
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ClusterManager from "../src/ClusterManager.ts"
import * as NodeWorkspaces from "../src/node/NodeWorkspaces.ts"
import * as PostgresListChanges from "../src/node/PostgresListChanges.ts"
import * as PostgresNodes from "../src/node/PostgresNodes.ts"
import { collected, says, seqsOf, settings, typesOf } from "./support/TwoNodes.ts"

const missing = missingPostgres()
if (missing !== undefined) process.stdout.write(`skipped, because ${missing}: EntityNodes\n`)

const answering = Layer.succeed(ModelClient, {
  stream: () =>
    Stream.fromIterable([
      {
        _tag: "ItemDone" as const,
        item: {
          type: "message" as const,
          role: "assistant" as const,
          content: [{ type: "output_text" as const, text: "done" }],
        },
      },
      { _tag: "Completed" as const },
    ]),
})

const node = Effect.fnUntraced(function* (database: string, port: number) {
  const scope = yield* Scope.make()
  const client = SqlStore.clientLayer(PgClient.layer({ url: Redacted.make(database) }))
  const layer = ClusterManager.layer().pipe(
    Layer.provide(PostgresNodes.layer({ host: "127.0.0.1", port, shards: 30 })),
    Layer.provide(PostgresListChanges.layer),
    Layer.provide(NodeWorkspaces.layer),
    Layer.provide(IdGenerator.layer),
    Layer.provide(SqlStore.layer()),
    Layer.provide(client),
    Layer.provide(scriptedResolver({ ...settings, cwd: "/tmp" })),
    Layer.provide(
      Layer.succeed(
        ToolRuntime,
        ToolRuntime.simple({ specs: () => [], run: () => Effect.succeed("ran") }),
      ),
    ),
    Layer.provide(answering),
  )
  const services = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
  return {
    manager: Context.get(services, ConversationManager),
    close: Scope.close(scope, Exit.void),
  }
})

describe.skipIf(missing !== undefined)("nodes of Effect Cluster", () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = new PostgresServer(["fsync=off"])
    server.start()
  }, 60_000)
  afterAll(() => server?.remove())

  it.live(
    "L4 L10 serve a conversation of each other, and take over those of one that leaves",
    () =>
      Effect.gen(function* () {
        const database = server?.database("cluster") ?? ""
        const a = yield* node(database, 17_411)
        const b = yield* node(database, 17_412)
        yield* Effect.sleep("5 seconds")
        const { id } = yield* a.manager.create({ ...settings, cwd: "/tmp" })
        const remote = yield* b.manager.get(id)
        const all = yield* collected(yield* remote.attach({ from: 0 }))
        yield* remote.submit(says("hi"))
        yield* Effect.sleep("500 millis")
        yield* a.close
        yield* remote.submit(says("again"))
        yield* Effect.sleep("1 second")
        const { seq } = yield* remote.state
        assert.deepStrictEqual(
          seqsOf(all),
          Array.from({ length: seq }, (_, n) => n),
        )
        assert.strictEqual(typesOf(all).filter((type) => type === "task_complete").length, 2)
        yield* b.close
      }).pipe(Effect.scoped),
    // Another program of the machine may have one of the ports for a moment.
    { timeout: 60_000, retry: 2 },
  )
})
