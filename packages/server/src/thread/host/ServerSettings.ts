/** The settings whose MCP servers a request means. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { AppServices } from "../../app/AppCall.ts"
import { settingsOf } from "../../app/ConversationResult.ts"
import { find, stateOf } from "../ThreadCall.ts"
import { unknownServer } from "./HostErrors.ts"

/** Those of the thread, or of the configuration where none is named. */
export const serverSettings = (
  threadId: string | null | undefined,
): Effect.Effect<ConversationSettings, JsonRpcError, AppServices> =>
  threadId == null
    ? settingsOf({})
    : Effect.map(Effect.flatMap(find(threadId), stateOf), ({ settings }) => settings)

/** Likewise; fails where they have no server with this name. */
export const settingsWithServer = (
  threadId: string | null | undefined,
  server: string,
): Effect.Effect<ConversationSettings, JsonRpcError, AppServices> =>
  Effect.filterOrFail(
    serverSettings(threadId),
    ({ mcpServers = {} }) => Object.hasOwn(mcpServers, server),
    () => unknownServer(server),
  )
