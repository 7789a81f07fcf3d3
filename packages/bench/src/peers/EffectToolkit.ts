/** The tools of Effect's server, whatever its transport: `echo` gives back a text, `count` sends progress notifications. */
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const tools = Toolkit.make(
  Tool.make("echo", {
    parameters: Schema.Struct({ text: Schema.String }),
    success: Schema.String,
  }),
  Tool.make("count", {
    parameters: Schema.Struct({ to: Schema.Int }),
    success: Schema.String,
  }),
)

const handlers = tools.toLayer(
  Effect.gen(function* () {
    const { notifications } = yield* McpServer.McpServer
    return {
      echo: ({ text }) => Effect.succeed(text),
      count: Effect.fnUntraced(function* ({ to }) {
        for (let progress = 1; progress <= to; progress++) {
          yield* notifications[McpSchema.ProgressNotification._tag]({
            progressToken: "token",
            progress,
            message: "and one more",
          })
        }
        return "done"
      }),
    }
  }),
)

/** The options of the server. */
export const effectServer = {
  name: "peer",
  version: "0.0.0",
  protocols: [McpProtocol.v2025_11_25],
  registrations: McpServer.toolkit(tools).pipe(Layer.provide(handlers)),
} as const
