/** `mcpServerStatus/list`: the MCP servers of the configuration, or of a thread, with their tools. */
import type { McpServer } from "@colloquy/core/ConversationSettings"
import type { McpServerStatus, McpServerStatusList } from "@colloquy/protocol/thread/ToolServers"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type HostHandler, pageOf } from "../HostCall.ts"
import { ToolServerPort } from "../ports/ToolServerPort.ts"
import { serverSettings } from "../ServerSettings.ts"

const authStatusOf = ({ transport }: McpServer): McpServerStatus["authStatus"] =>
  transport._tag === "Http" && transport.bearerTokenEnv !== undefined
    ? "bearerToken"
    : "unsupported"

/** Handler of the method. */
export const mcpServerStatusList: HostHandler<typeof McpServerStatusList> = Effect.fnUntraced(
  function* (params) {
    const settings = yield* serverSettings(params.threadId)
    const servers = Object.entries(settings.mcpServers ?? {})
    const port = yield* ToolServerPort
    const toolsOnly = params.detail === "toolsAndAuthOnly"
    const found = servers.length === 0 ? {} : yield* port.describe(settings, toolsOnly)
    const all = servers.map(([name, server]): McpServerStatus => {
      const own = found[name]
      const contents = own !== undefined && Result.isSuccess(own) ? own.success : undefined
      return {
        name,
        runtimeStatus: contents !== undefined ? "ready" : own === undefined ? null : "failed",
        serverInfo: null,
        tools: contents?.tools ?? {},
        toolsError: own !== undefined && Result.isFailure(own) ? own.failure.message : null,
        resources: contents?.resources ?? [],
        resourceTemplates: contents?.resourceTemplates ?? [],
        authStatus: authStatusOf(server),
      }
    })
    return yield* pageOf(all, params)
  },
)
