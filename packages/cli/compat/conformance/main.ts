/**
 * The server that the referee checks, on standard streams: tools, resources and prompts as an embedder adds them,
 * beside the built-in ones.
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
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import { takeStdout } from "@colloquy/transport-stdio/Stdout"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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

const serve = Effect.gen(function* () {
  const features = yield* Features.make({
    tools: [...contentTools, ...askingTools, ...taskTools],
    resources,
    resourceTemplates,
    prompts,
  })
  for (const one of changingTools(features)) yield* features.addTool(one)
  const connection = yield* StdioConnection.make({
    input: process.stdin,
    output: takeStdout(),
  })
  // The referee expects every call of a tool that may run as a task to become one.
  yield* Effect.provide(
    McpServer.serve(connection, { version: "0.0.0", taskAfter: 0 }),
    Server.layerDefault({ features }),
  )
})

await Effect.runPromise(Effect.scoped(serve).pipe(Effect.provide(core)))
process.exit(0)
