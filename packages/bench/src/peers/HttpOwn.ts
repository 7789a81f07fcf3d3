/** MCP over HTTP as an embedding program mounts it, behind its guard: `echo` gives back a text, `count` reports progress. */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Features from "@colloquy/server/features/Features"
import { tool } from "@colloquy/server/features/Tool"
import * as McpServer from "@colloquy/server/McpServer"
import { Server } from "@colloquy/server/Server"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import { guarded, RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import { knownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import * as McpRoutes from "@colloquy/transport-http/mcp/McpRoutes"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"
import { tellPort } from "./HttpPeer.ts"

const echo = tool({
  name: "echo",
  input: Schema.Struct({ text: Schema.String }),
  run: ({ text }) => Effect.succeed(text),
})

const count = tool({
  name: "count",
  input: Schema.Struct({ to: Schema.Int }),
  run: ({ to }, { progress }) =>
    Effect.gen(function* () {
      for (let n = 1; n <= to; n++) yield* progress(n, undefined, "and one more")
      return "done"
    }),
})

/** Settings are never resolved, because no conversation is created. */
const conversations = Conversations.layer.pipe(
  Layer.provide([
    Layer.succeed(ModelClient, { stream: () => Stream.never }),
    ToolRuntime.layerNone,
    IdGenerator.layer,
    MemoryStore.layer,
  ]),
  Layer.provideMerge(scriptedResolver()),
)

const server = Layer.unwrap(
  Effect.map(Features.make({ tools: [echo, count] }), (features) =>
    Server.layerDefault({ features }),
  ),
)

/** The benchmark sends what a fast client sends in an hour. */
const limits = Limits.layer({ maxPrincipalRequests: Number.MAX_SAFE_INTEGER })

const main = HttpRouter.serve(guarded(McpRoutes.layer(McpServer.serve, { maxSessions: 100_000 })), {
  disableLogger: true,
  disableListenLog: true,
}).pipe(
  Layer.provide([Principals.layerTokens([knownToken("bench", "local")]), limits]),
  Layer.provide(RouteTable.layer),
  Layer.provide(
    NodeHttpServer.layer(() => tellPort(createServer()), { port: 0, host: "127.0.0.1" }),
  ),
  Layer.provide(Layer.provide(server, conversations)),
)

NodeRuntime.runMain(Layer.launch(main))
