/** `tools/list`: all tools on one page, whatever the cursor (recording 0.29 `handshake`, id 4). */
import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"

// Read at the call: the schemas are made when first asked for.
const tools = () =>
  [...codexTools, ...conversationTools].map(
    ({ name, title, description, inputSchema, outputSchema, annotations }) => ({
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      ...(annotations === undefined ? {} : { annotations }),
    }),
  )

export const toolsList = () => Effect.sync(() => ({ tools: tools() }))
