/** Port: the MCP servers of settings, as clients use them. The default has none. */
import { type DirectToolServers, ToolServerFailed } from "@colloquy/core/ToolRuntime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const none = new ToolServerFailed({ message: "this program uses no MCP servers" })

/** The MCP servers that clients use. */
export const ToolServerPort = Context.Reference<DirectToolServers>(
  "@colloquy/server/thread/host/ToolServerPort",
  {
    defaultValue: () => ({
      call: () => Effect.fail(none),
      read: () => Effect.fail(none),
      describe: () => Effect.succeed({}),
    }),
  },
)
