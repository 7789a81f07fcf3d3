/** `web_search`: the search tool of the provider, which runs there; this program only offers it. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { refusedCall, unsupportedCall } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import type { Tool } from "../Tool.ts"

/** Only the Responses API has tools that run at the provider. */
const isOffered = ({ includeWebSearchTool, provider }: ConversationSettings): boolean =>
  includeWebSearchTool === true && provider.wire === "responses"

/** The tool `web_search`. */
export const searchTool: Tool = {
  name: "web_search",
  spec: (settings) => (isOffered(settings) ? { type: "web_search" } : undefined),
  isReadOnly: () => true,
  // The provider answers a search within its response; a function call of that name has no meaning.
  run: (call) => Effect.succeed(refusedCall(unsupportedCall(call))),
}
