/**
 * What the client keeps for a stateless call that ended with questions, sealed in `requestState`, and brings back with the
 * answers: which turn the call follows, how much of it was forwarded, and what was asked.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Asked = Schema.Struct({
  seq: Schema.Int,
  id: Schema.String,
  type: Schema.Literals([
    "exec_approval_request",
    "apply_patch_approval_request",
    "tool_approval_request",
    "elicitation_request",
    "request_user_input",
    "request_permissions",
  ]),
})

const CallState = Schema.Struct({
  conversation: Schema.String,
  /** Id of the turn; empty for a call that only watches the conversation. */
  turn: Schema.String,
  /** Number of the first event that was not forwarded to the client. */
  next: Schema.Int,
  /** The questions, by their keys in the result. */
  asked: Schema.Record(Schema.String, Asked),
})

/** See the header. */
export type CallState = (typeof CallState)["Type"]

/** Reads the state. It was sealed by this server, but perhaps for a call of another tool: then it fails. */
export const readCallState = (state: unknown): Effect.Effect<CallState, JsonRpcError> =>
  Effect.mapError(
    Schema.decodeUnknownEffect(CallState)(state),
    () =>
      new JsonRpcError({
        code: ErrorCode.invalidParams,
        message: "Invalid params: params.requestState is not one of this call",
      }),
  )
