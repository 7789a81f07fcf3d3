/** `mcpServerStatus/list`: the MCP servers of the configuration, or of a thread, with their tools. */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import type { McpServerStatus, McpServerStatusList } from "@colloquy/protocol/thread/ToolServers"
import * as Effect from "effect/Effect"
import { find, stateOf } from "../../../app/AppCall.ts"
import { settingsOf } from "../../../app/ConversationResult.ts"
import { type HostHandler, pageOf } from "../HostCall.ts"
import { ToolServerPort } from "../ports/ToolServerPort.ts"

const authStatusOf = ({ transport }: McpServer): McpServerStatus["authStatus"] =>
  transport._tag === "Http" && transport.bearerTokenEnv !== undefined
    ? "bearerToken"
    : "unsupported"

/** Handler of the method. */
export const mcpServerStatusList: HostHandler<typeof McpServerStatusList> = Effect.fnUntraced(
  function* (params) {
    const { threadId } = params
    const settings =
      threadId == null ? yield* settingsOf({}) : (yield* stateOf(yield* find(threadId))).settings
    const servers = Object.entries(settings.mcpServers ?? {})
    const port = yield* ToolServerPort
    const tools = servers.length === 0 ? {} : yield* port.list(settings)
    const all = servers.map(([name, server]): McpServerStatus => {
      const own = tools[name]
      return {
        name,
        runtimeStatus: own === undefined ? null : "ready",
        serverInfo: null,
        tools: own ?? {},
        toolsError: own === undefined ? "the server could not be started, or has no tools" : null,
        resources: [],
        resourceTemplates: [],
        authStatus: authStatusOf(server),
      }
    })
    return yield* pageOf(all, params)
  },
)
