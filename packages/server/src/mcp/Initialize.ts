/** `initialize`: negotiates the revision, once per connection. Nothing else waits for it (recording 0.29 `preinit`). */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { CodexEvent, type InitializeParams } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type { Session } from "./Session.ts"

export const initialize = (session: Session, version: string) => (params: InitializeParams) =>
  Effect.flatMap(session.initialize(params), (protocolVersion) =>
    protocolVersion === undefined
      ? Effect.fail(
          new JsonRpcError({
            code: ErrorCode.invalidRequest,
            message: "initialize called more than once",
          }),
        )
      : Effect.succeed({
          protocolVersion,
          capabilities: {
            tools: { listChanged: true },
            experimental: { [CodexEvent._tag]: {} },
          },
          serverInfo: { name: "colloquy", title: "Colloquy", version },
        }),
  )
