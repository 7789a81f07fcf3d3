/** `mcpServer/resource/read`: not served, because the agent reads no resources of MCP servers. */
import { McpServerResourceRead } from "@colloquy/protocol/thread/ToolServers"
import * as Effect from "effect/Effect"
import { find, stateOf } from "../../../app/AppCall.ts"
import { internal } from "../../../app/AppErrors.ts"
import { settingsOf } from "../../../app/ConversationResult.ts"
import type { HostHandler } from "../HostCall.ts"
import { notServed } from "../HostErrors.ts"

/** Handler of the method: names an unknown thread or server; any other call is refused. */
export const mcpServerResourceRead: HostHandler<typeof McpServerResourceRead> = Effect.fnUntraced(
  function* ({ server, threadId }) {
    const settings =
      threadId == null ? yield* settingsOf({}) : (yield* stateOf(yield* find(threadId))).settings
    if (settings.mcpServers?.[server] === undefined) {
      return yield* internal(`unknown MCP server '${server}'`)
    }
    return yield* notServed(McpServerResourceRead._tag)
  },
)
