/**
 * The server that the referee checks, over HTTP: tools, resources and prompts as an embedding program adds them, beside the
 * built-in ones. Writes its address on standard output once it listens.
 */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Resolve from "@colloquy/config/Resolve"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as OfflineModel from "@colloquy/models/OfflineModel"
import { offlineProvider } from "@colloquy/models/Providers"
import * as Features from "@colloquy/server/features/Features"
import { tool } from "@colloquy/server/features/Tool"
import { prompt } from "@colloquy/server/features/Prompt"
import { Server } from "@colloquy/server/Server"
import * as McpServer from "@colloquy/server/McpServer"
import { guarded, RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import { Principals } from "@colloquy/transport-http/guard/Principals"
import * as McpRoutes from "@colloquy/transport-http/mcp/McpRoutes"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { askingTools } from "./fixtures/AskingTools.ts"
import { contentTools } from "./fixtures/ContentTools.ts"
import { prompts } from "./fixtures/Prompts.ts"
import { resources, resourceTemplates } from "./fixtures/Resources.ts"
import { taskTools } from "./fixtures/TaskTools.ts"

const settings = Resolve.layer({
  tree: {},
  builtinProviders: [offlineProvider],
  defaultProvider: offlineProvider.id,
  cwd: process.cwd(),
})

const core = Conversations.layer.pipe(
  Layer.provide([
    MemoryStore.layer,
    IdGenerator.layer,
    OfflineModel.layer(),
    ToolRuntime.layerNone,
  ]),
  Layer.provideMerge(settings),
)

/** Name of features that are added and removed, so that the server sends change notifications. */
const passing = "passing"

const changingTools = (features: Features.Features) => [
  tool({
    name: "test_trigger_tool_change",
    description: "Adds a tool and takes it away again.",
    run: () =>
      Effect.gen(function* () {
        const one = { name: passing, description: "Is there for a moment." }
        yield* features.addTool(tool({ ...one, run: () => Effect.succeed("here") }))
        yield* features.removeTool(passing)
        return "A tool came and went."
      }),
  }),
  tool({
    name: "test_trigger_prompt_change",
    description: "Adds a prompt and takes it away again.",
    run: () =>
      Effect.gen(function* () {
        const one = { name: passing, description: "Is there for a moment." }
        yield* features.addPrompt(prompt({ ...one, run: () => Effect.succeed("here") }))
        yield* features.removePrompt(passing)
        return "A prompt came and went."
      }),
  }),
]

const features = Effect.gen(function* () {
  const made = yield* Features.make({
    tools: [...contentTools, ...askingTools, ...taskTools],
    resources,
    resourceTemplates,
    prompts,
  })
  for (const one of changingTools(made)) yield* made.addTool(one)
  return made
})

const server = Layer.unwrap(
  Effect.map(features, (made) => Server.layerDefault({ features: made })),
).pipe(Layer.provide(core))

/** The referee expects every call of a tool that may run as a task to become one, and a long stream to be closed. */
const mcp = McpRoutes.layer(
  (connection) => McpServer.serve(connection, { version: "0.0.0", taskAfter: 0 }),
  { closeStreamsAfter: "1 second" },
)

/** The referee sends no token. */
const guards = Layer.mergeAll(Principals.layerLocal, Limits.layer(), RouteTable.layer)

const node = createServer()
node.once("listening", () => {
  const address = node.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`)
})

const main = HttpRouter.serve(guarded(mcp), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide([guards, NodeHttpServer.layer(() => node, { port: 0, host: "127.0.0.1" })]),
  Layer.provide(server),
)

NodeRuntime.runMain(Layer.launch(main))
