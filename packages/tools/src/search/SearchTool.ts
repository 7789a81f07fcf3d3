/** `web_search`: the search tool of the provider itself, which runs there; this program only offers it (§6.7). */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { unsupportedCall } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import type { Tool } from "../Tool.ts"

/** Only the Responses wire has tools of the provider. */
const isOffered = ({ includeWebSearchTool, provider }: ConversationSettings): boolean =>
  includeWebSearchTool === true && provider.wire === "responses"

export const searchTool: Tool = {
  name: "web_search",
  spec: (settings) => (isOffered(settings) ? { type: "web_search" } : undefined),
  isReadOnly: () => true,
  // The provider answers a search within its response; a function call of that name has no meaning.
  run: (call) => Effect.succeed({ output: unsupportedCall(call) }),
}
