/** The whole server with one tool of an embedding program, `echo`, for the cost of a call in each era. */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Features from "@colloquy/server/features/Features"
import { Server } from "@colloquy/server/Server"
import { tool } from "@colloquy/server/features/Tool"
import * as McpServer from "@colloquy/server/McpServer"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import { takeStdout } from "@colloquy/transport-stdio/Stdout"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const output = takeStdout()

const echo = tool({
  name: "echo",
  input: Schema.Struct({ text: Schema.String }),
  run: ({ text }) => Effect.succeed(text),
})

const main = Effect.gen(function* () {
  const connection = yield* StdioConnection.make({ input: process.stdin, output })
  const features = yield* Features.make({ tools: [echo] })
  yield* Effect.provide(McpServer.serve(connection), Server.layerDefault({ features }))
})

/** Settings are never resolved, because no conversation is created. */
const services = Conversations.layer.pipe(
  Layer.provide([
    Layer.succeed(ModelClient, { stream: () => Stream.never }),
    ToolRuntime.layerNone,
    IdGenerator.layer,
    MemoryStore.layer,
  ]),
  Layer.provideMerge(scriptedResolver()),
)

await Effect.runPromise(Effect.scoped(main).pipe(Effect.provide(services)))
