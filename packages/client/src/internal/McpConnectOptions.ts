/** The options of an MCP client: who it is, what it handles, and which revision it uses. */
import type { AnyEventMsg } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError, RequestId } from "@colloquy/protocol/JsonRpc"
import type { InitializeParams } from "@colloquy/protocol/mcp/Initialize"
import type { ElicitParams, ElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import type * as Effect from "effect/Effect"

/** One `codex/event` notification. */
export interface McpEvent {
  /** Id of the tool call that runs the conversation. */
  readonly requestId: RequestId | undefined
  /** Id of the conversation; servers before 0.120 do not send it. */
  readonly threadId: string | undefined
  /** Id of the submission that the event belongs to. */
  readonly id: string
  readonly msg: AnyEventMsg
}

/** Who the client is, and what it handles. */
export interface ConnectOptions {
  readonly clientInfo: InitializeParams["clientInfo"]
  readonly capabilities?: InitializeParams["capabilities"]
  /**
   * The revision to use. Default: the newest one with a handshake, which the server may answer with
   * an older one. For a revision without a handshake, connecting fails unless the server supports
   * it. `auto` uses the newest revision without a handshake, and the default if the server does not
   * support it.
   */
  readonly protocolVersion?: string
  /**
   * False: requests no events from the server. In a revision without a handshake events are
   * requested only if there is an `onEvent`. `capabilities.experimental` takes precedence over this
   * option.
   */
  readonly events?: false
  /**
   * Runs for one event at a time, in order; for all events of a call before the call returns. See
   * `ClientOptions.handlers`.
   */
  readonly onEvent?: (event: McpEvent) => Effect.Effect<void>
  /**
   * Answers a question of the server: may this command run, may this patch be applied? Returns a
   * decision, or the result that MCP defines for any other form. If present, the client declares
   * that it can be asked. Questions are answered concurrently, each after the handlers of the
   * events before it; the handler of a question that the server withdraws is interrupted.
   */
  readonly onElicitation?: (
    question: ElicitParams,
  ) => Effect.Effect<ReviewDecision | ElicitResult, JsonRpcError>
}
