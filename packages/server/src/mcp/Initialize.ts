/** `initialize`: negotiates the revision, once per connection. Nothing else waits for it (recording 0.29 `preinit`). */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { CodexEvent, type InitializeParams } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type { Session } from "./Session.ts"

export const initialize = (session: Session, version: string) => (params: InitializeParams) =>
  Effect.gen(function* () {
    const protocolVersion = session.initialize(params)
    if (protocolVersion === undefined) {
      return yield* new JsonRpcError({
        code: ErrorCode.invalidRequest,
        message: "initialize called more than once",
      })
    }
    const told = session.events() !== "off"
    return {
      protocolVersion,
      capabilities: {
        tools: { listChanged: true },
        ...(told ? { experimental: { [CodexEvent._tag]: {} } } : {}),
      },
      serverInfo: { name: "colloquy", title: "Colloquy", version },
    }
  })
