/** Port: the MCP servers of settings, as clients list them. The default starts none. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Tools as their server describes them, by name. */
export type ServerTools = Readonly<Record<string, unknown>>

/** The MCP servers of this server. */
export interface ToolServerLists {
  /**
   * The tools of the servers that these settings name, by server. Starts servers that do not run, in bounded time. A server
   * that cannot be used is absent. Never fails.
   */
  readonly list: (
    settings: ConversationSettings,
  ) => Effect.Effect<Readonly<Record<string, ServerTools>>>
}

/** The MCP servers that clients list. */
export const ToolServerPort = Context.Reference<ToolServerLists>(
  "@colloquy/server/thread/host/ToolServerPort",
  { defaultValue: () => ({ list: () => Effect.succeed({}) }) },
)
