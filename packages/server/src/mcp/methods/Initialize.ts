/** `initialize`: negotiates the revision, once per connection. Nothing else waits for it (recording 0.29 `preinit`). */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Initialize, InitializeParams } from "@colloquy/protocol/mcp/CodexMcp"
import type { ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Members } from "../RequestContext.ts"
import type { Session } from "../Session.ts"

type InitializeResult = ResultOf<typeof Initialize>

/** @param capabilities read after the client has told what it wants of them */
export const initialize =
  (session: Session, serverInfo: InitializeResult["serverInfo"], capabilities: () => Members) =>
  (params: InitializeParams): Effect.Effect<InitializeResult, JsonRpcError> =>
    Effect.suspend(() => {
      const protocolVersion = session.initialize(params)
      return protocolVersion === undefined
        ? Effect.fail(
            new JsonRpcError({
              code: ErrorCode.invalidRequest,
              message: "initialize called more than once",
            }),
          )
        : Effect.succeed({ protocolVersion, capabilities: capabilities(), serverInfo })
    })
