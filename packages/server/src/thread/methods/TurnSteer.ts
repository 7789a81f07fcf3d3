/** `turn/steer`: adds input to the running turn, which must be the expected one. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { TurnSteer } from "@colloquy/protocol/thread/Turns"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { find, stateOf, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"
import { inputItems } from "../ThreadInput.ts"

const notSteerable = (turnKind: "compact" | "review"): JsonRpcError => {
  const message = `cannot steer a ${turnKind} turn`
  const codexErrorInfo = { activeTurnNotSteerable: { turnKind } }
  return invalid(message, { message, codexErrorInfo, additionalDetails: null, misalignment: null })
}

const noTurn = () => invalid("no active turn to steer")

/** Handler of the method. */
export const turnSteer: ThreadHandler<typeof TurnSteer> = Effect.fnUntraced(function* (
  params,
  { hold },
) {
  const conversation = yield* find(params.threadId)
  if (params.expectedTurnId === "") return yield* invalid("expectedTurnId must not be empty")
  if (params.input.length === 0) return yield* invalid("input must not be empty")
  const items = yield* inputItems(params.input)
  const { turn } = yield* stateOf(conversation)
  if (turn === undefined) return yield* noTurn()
  if (turn.id !== params.expectedTurnId) {
    return yield* invalid(
      `expected active turn id \`${params.expectedTurnId}\` but found \`${turn.id}\``,
    )
  }
  if (turn.compacts) return yield* notSteerable("compact")
  if (turn.review !== undefined) return yield* notSteerable("review")
  hold(conversation.id)
  const named = params.clientUserMessageId == null ? {} : { client_id: params.clientUserMessageId }
  const submitted = conversation.submit(
    { type: "user_input", items, ...named },
    { whileRunning: "steer" },
  )
  const { id } = yield* Effect.mapError(submitted, (error) =>
    error._tag === "SubmissionRefused" && error.reason === "NoTurnRunning"
      ? noTurn()
      : cannotSubmit(conversation.id, error),
  )
  return { turnId: id }
})
