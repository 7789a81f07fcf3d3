/** `mcpServer/tool/call`: not served, because a call without a turn has no sandbox and no approval. */
import { McpServerToolCall } from "@colloquy/protocol/thread/ToolServers"
import * as Effect from "effect/Effect"
import { internal } from "../../../app/AppErrors.ts"
import { find, stateOf } from "../../../app/AppCall.ts"
import type { HostHandler } from "../HostCall.ts"
import { notServed } from "../HostErrors.ts"

/** Handler of the method: names an unknown thread or server; any other call is refused. */
export const mcpServerToolCall: HostHandler<typeof McpServerToolCall> = Effect.fnUntraced(
  function* ({ server, threadId }) {
    const { settings } = yield* stateOf(yield* find(threadId))
    if (settings.mcpServers?.[server] === undefined) {
      return yield* internal(`unknown MCP server '${server}'`)
    }
    return yield* notServed(McpServerToolCall._tag)
  },
)
