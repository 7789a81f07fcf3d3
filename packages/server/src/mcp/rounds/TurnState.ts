/** What the client of a turn's call keeps for it while it gets answers: which turn, how far it was told, what was asked. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Asked = Schema.Struct({
  seq: Schema.Int,
  id: Schema.String,
  type: Schema.Literals([
    "exec_approval_request",
    "apply_patch_approval_request",
    "elicitation_request",
  ]),
})

export const TurnState = Schema.Struct({
  conversation: Schema.String,
  turn: Schema.String,
  /** Number of the first event that the client was not told of. */
  next: Schema.Int,
  /** By the key of the question. */
  asked: Schema.Record(Schema.String, Asked),
})
export type TurnState = typeof TurnState.Type

const decode = Schema.decodeUnknownOption(TurnState)

/** It was sealed here, perhaps for another tool. */
export const readTurnState = (state: unknown): Effect.Effect<TurnState, JsonRpcError> => {
  const read = decode(state)
  return read._tag === "Some"
    ? Effect.succeed(read.value)
    : Effect.fail(
        new JsonRpcError({
          code: ErrorCode.invalidParams,
          message: "Invalid params: params.requestState is not one of this call",
        }),
      )
}
