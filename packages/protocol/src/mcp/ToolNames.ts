/** The names of the server's own tools, apart from the tools, because the configuration is read before they are loaded. */
import type { ServerToolName } from "./ServerTools.ts"

/** In the order of `tools/list`. */
export const serverToolNames = [
  "codex",
  "codex-reply",
  "conversationCreate",
  "conversationSendMessage",
  "conversationStream",
  "conversationsList",
  "conversationInterrupt",
  "conversationStatus",
  "conversationWait",
  "conversationFork",
  "conversationRemove",
] as const satisfies ReadonlyArray<ServerToolName>
