/**
 * `thread/revert`: drops a turn and all later ones. Interrupts the running turn first, and drops what waits for its end; the
 * queue of input stays, held. Requests for a turn that arrive meanwhile wait, and start one after it. Subscribers are notified, whoever asks. The dropped turns stay in the log of the thread.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { untilTurnEnds } from "@colloquy/core/listeners/Listening"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { ThreadRevert } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import {
  describe,
  find,
  historyOf,
  stateOf,
  type ThreadCall,
  type ThreadHandler,
  threadId,
} from "../ThreadCall.ts"
import { cannotAttach, cannotSubmit, turnNotFound, unavailable } from "../ThreadErrors.ts"
import { newestOf } from "../ThreadPages.ts"

/** Interrupts the running turn, if any, and waits for its end. */
const endTurn = Effect.fnUntraced(function* (
  conversation: Conversation,
): Effect.fn.Return<void, JsonRpcError, Scope.Scope> {
  const listener = yield* Effect.mapError(conversation.attach(), cannotAttach)
  const { turn } = yield* stateOf(conversation)
  yield* Effect.mapError(conversation.submit({ type: "interrupt" }), (error) =>
    cannotSubmit(conversation.id, error),
  )
  if (turn === undefined) return
  yield* untilTurnEnds(listener, turn.id).pipe(
    Effect.catchTags({
      // The thread has ended, and its turn with it.
      Done: () => Effect.void,
      ConversationUnavailable: (error) => Effect.fail(unavailable(error)),
    }),
  )
}, Effect.scoped)

const revert = Effect.fnUntraced(function* (
  { beforeTurnId, threadId: given }: Params<typeof ThreadRevert>,
  call: ThreadCall,
) {
  const conversation = yield* find(given)
  const { id } = conversation
  const { turns } = yield* historyOf(id, call)
  if (!turns.some((turn) => turn.id === beforeTurnId)) return yield* turnNotFound(beforeTurnId)
  call.hold(id)
  yield* endTurn(conversation)
  yield* Effect.mapError(
    conversation.submit({ type: "revert", turn_id: beforeTurnId }, { id: yield* subscriptionId }),
    (error) => cannotSubmit(id, error),
  )
  const state = yield* stateOf(conversation)
  const history = yield* historyOf(id, call)
  return {
    thread: yield* describe(id, { history, state }, call),
    ...newestOf(history),
  }
})

/** Handler of the method. */
export const threadRevert: ThreadHandler<typeof ThreadRevert> = Effect.fnUntraced(
  function* (params, call) {
    // Before anything is waited for, so that no later request overtakes it.
    const id = yield* threadId(params.threadId)
    return yield* call.connection.registry.reverting(id, revert(params, call))
  },
)
