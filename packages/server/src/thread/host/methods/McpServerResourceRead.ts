/** `mcpServer/resource/read`: reads a resource of an MCP server of a thread, or of the configuration. */
import type { McpServerResourceRead } from "@colloquy/protocol/thread/ToolServers"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"
import { brokenResult, cannotUseServer } from "../HostErrors.ts"
import { ToolServerPort } from "../ports/ToolServerPort.ts"
import { settingsWithServer } from "../ServerSettings.ts"

/** Handler of the method. */
export const mcpServerResourceRead: HostHandler<typeof McpServerResourceRead> = Effect.fnUntraced(
  function* ({ server, threadId, uri }) {
    const settings = yield* settingsWithServer(threadId, server)
    const port = yield* ToolServerPort
    const { contents } = yield* Effect.mapError(
      port.read(settings, { server, uri }),
      cannotUseServer,
    )
    return Array.isArray(contents) ? { contents } : yield* brokenResult(server)
  },
)
