/**
 * `interruptConversation`: interrupts the running turn and responds after `turn_aborted` was delivered to the listeners of
 * this connection. Always responds; the original never does where no turn is running or the client has no listener.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { untilTurnEnds } from "@colloquy/core/listeners/Listening"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { InterruptConversation } from "@colloquy/protocol/app/Messages"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AppHandler, find, stateOf } from "../AppCall.ts"
import { cannotAttach, cannotSubmit, unavailable } from "../AppErrors.ts"

/** The end of the interrupted turn. */
interface InterruptedTurn {
  readonly turnId: string
  /** Number of the terminal event; -1 where the conversation ended without one. */
  readonly seq: number
  /** Also `interrupted` for a turn that completed before the interrupt took effect. */
  readonly reason: TurnAbortReason
}

/** Interrupts the running turn and waits for its terminal event. Undefined if no turn is running. */
const interruptTurn = Effect.fnUntraced(function* (
  conversation: Conversation,
): Effect.fn.Return<InterruptedTurn | undefined, JsonRpcError, Scope.Scope> {
  const listener = yield* Effect.mapError(conversation.attach(), cannotAttach)
  const { turn } = yield* stateOf(conversation)
  yield* Effect.mapError(conversation.submit({ type: "interrupt" }), (error) =>
    cannotSubmit(conversation.id, error),
  )
  if (turn === undefined) return undefined
  const turnId = turn.id
  return yield* untilTurnEnds(listener, turnId).pipe(
    Effect.map(({ msg, seq }): InterruptedTurn => ({
      turnId,
      seq,
      reason: msg.type === "turn_aborted" ? msg.reason : "interrupted",
    })),
    Effect.catchTags({
      // The conversation has ended, and its turn with it.
      Done: () => Effect.succeed<InterruptedTurn>({ turnId, seq: -1, reason: "interrupted" }),
      ConversationUnavailable: (error) => Effect.fail(unavailable(error)),
    }),
  )
}, Effect.scoped)

/** Handler of the method. */
export const interruptConversation: AppHandler<typeof InterruptConversation> = Effect.fnUntraced(
  function* ({ conversationId }, { connection }) {
    const conversation = yield* find(conversationId)
    const stopped = yield* interruptTurn(conversation)
    if (stopped === undefined) return { abortReason: "interrupted" }
    yield* connection.subscriptions.delivered(conversation.id, stopped.seq)
    return { abortReason: stopped.reason, turnId: stopped.turnId }
  },
)
