/**
 * `initialize`: negotiates the revision, once per connection. Other requests are served before it too, as in the
 * original (`preinit` in packages/server/test/fixtures/v0.29.0).
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { InitializeParams } from "@colloquy/protocol/mcp/Initialize"
import type { Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import type { ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Members } from "../RequestContext.ts"
import type { Session } from "../Session.ts"

type InitializeResult = ResultOf<typeof Initialize>

/**
 * The handler of `initialize` of one connection.
 *
 * @param capabilities read after the session has the client's capabilities, on which they may depend
 */
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
