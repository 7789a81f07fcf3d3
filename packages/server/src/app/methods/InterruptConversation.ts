/**
 * `interruptConversation`: answered after the listeners of this connection were sent `turn_aborted`, and also where no turn
 * runs or there is no listener (the original sends no response then).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { InterruptConversation } from "@colloquy/protocol/app/Messages"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import { type AppHandler, find, stateOf } from "../AppCall.ts"
import { cannotAttach, cannotSubmit, unavailable } from "../AppErrors.ts"

interface Ending {
  readonly seq: number
  readonly reason: TurnAbortReason
}

/** Stops what runs and waits for its terminal event; undefined when nothing ran. */
const stop = Effect.fnUntraced(function* (conversation: Conversation) {
  const listener = yield* Effect.mapError(conversation.attach(), cannotAttach)
  const { turn } = yield* stateOf(conversation)
  yield* Effect.mapError(conversation.submit({ type: "interrupt" }), (error) =>
    cannotSubmit(conversation.id, error),
  )
  if (turn === undefined) return undefined
  const ending = (): Effect.Effect<Ending, JsonRpcError> =>
    listener.take.pipe(
      Effect.flatMap((deliveries) => {
        for (const delivery of deliveries) {
          if (delivery._tag !== "Event" || delivery.event.id !== turn.id) continue
          const { msg, seq } = delivery.event
          if (!isTerminal(msg)) continue
          // It may have come to its own end first.
          const reason = msg.type === "turn_aborted" ? msg.reason : "interrupted"
          return Effect.succeed({ seq, reason })
        }
        return Effect.suspend(ending)
      }),
      // The conversation has ended, and its turn with it.
      Effect.catchTags({
        Done: () => Effect.succeed<Ending>({ seq: -1, reason: "interrupted" }),
        ConversationUnavailable: (error) => Effect.fail(unavailable(error)),
      }),
    )
  return { turnId: turn.id, ...(yield* ending()) }
}, Effect.scoped)

/** Handler of the method. */
export const interruptConversation: AppHandler<typeof InterruptConversation> = Effect.fnUntraced(
  function* ({ conversationId }, { connection }) {
    const conversation = yield* find(conversationId)
    const stopped = yield* stop(conversation)
    if (stopped === undefined) return { abortReason: "interrupted" }
    yield* connection.subscriptions.delivered(conversation.id, stopped.seq)
    return { abortReason: stopped.reason, turnId: stopped.turnId }
  },
)
