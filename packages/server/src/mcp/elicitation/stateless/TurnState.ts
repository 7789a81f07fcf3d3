/** What the client of a turn's call keeps for it while it gets answers: which turn, how far it was told, what was asked. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Made when the first state comes back: a start does not wait for it. */
const makeTurnState = () => {
  const Asked = Schema.Struct({
    seq: Schema.Int,
    id: Schema.String,
    type: Schema.Literals([
      "exec_approval_request",
      "apply_patch_approval_request",
      "elicitation_request",
    ]),
  })
  return Schema.Struct({
    conversation: Schema.String,
    turn: Schema.String,
    /** Number of the first event that the client was not told of. */
    next: Schema.Int,
    /** By the key of the question. */
    asked: Schema.Record(Schema.String, Asked),
  })
}
export type TurnState = ReturnType<typeof makeTurnState>["Type"]

let decode: ((u: unknown) => Option.Option<TurnState>) | undefined

/** It was sealed here, perhaps for another tool. */
export const readTurnState = (state: unknown): Effect.Effect<TurnState, JsonRpcError> => {
  decode ??= Schema.decodeUnknownOption(makeTurnState())
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
