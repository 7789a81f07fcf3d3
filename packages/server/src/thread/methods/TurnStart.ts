/**
 * `turn/start`: starts a turn, or steers the running one. Subscribes the caller if it is not. The turn can be interrupted
 * from the response on.
 */
import type { Op } from "@colloquy/protocol/Op"
import type { TurnStart } from "@colloquy/protocol/thread/Turns"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import { changeSettings } from "../ChangeSettings.ts"
import { find, follow, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"
import { runningTurn } from "../ThreadFold.ts"
import { inputItems } from "../ThreadInput.ts"

/** Handler of the method. */
export const turnStart: ThreadHandler<typeof TurnStart> = Effect.fnUntraced(
  function* (params, call) {
    const conversation = yield* find(params.threadId)
    const { id: threadId } = conversation
    const items = yield* inputItems(params.input)
    if (items.length === 0) return yield* invalid("input must not be empty")
    if (Object.keys(params.additionalContext ?? {}).length > 0) {
      return yield* invalid("`additionalContext`: not supported, send it as a part of `input`")
    }
    call.hold(threadId)
    yield* follow(conversation, call)
    yield* yield* changeSettings(conversation, params, call)
    const op: Op = {
      type: "user_input",
      items,
      ...(params.clientUserMessageId == null ? {} : { client_id: params.clientUserMessageId }),
      ...(params.outputSchema == null ? {} : { final_output_json_schema: params.outputSchema }),
    }
    const { id } = yield* Effect.mapError(
      conversation.submit(op, { id: yield* subscriptionId, whileRunning: "queue" }),
      (error) => cannotSubmit(threadId, error),
    )
    return { turn: runningTurn(id, null) }
  },
)
