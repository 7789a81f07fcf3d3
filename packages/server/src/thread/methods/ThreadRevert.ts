/**
 * `thread/revert`: drops a turn and all later ones. The running turn is interrupted first, and what waits for its end is
 * dropped; the queue of input stays, held. Input that any client submits behind it starts a turn after it. Subscribers are
 * notified, whoever asks. The dropped turns stay in the log of the thread.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { untilEvent } from "@colloquy/core/listeners/Listening"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ThreadRevert } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import { describe, find, historyOf, stateOf, type ThreadHandler } from "../ThreadCall.ts"
import { cannotAttach, cannotSubmit, unavailable } from "../ThreadErrors.ts"
import { newestOf } from "../ThreadPages.ts"

/** Submits the op, and waits until the turns are dropped. */
const revert = Effect.fnUntraced(function* (
  conversation: Conversation,
  turnId: string,
): Effect.fn.Return<void, JsonRpcError, Scope.Scope> {
  const { id } = conversation
  const { seq } = yield* stateOf(conversation)
  const submission = yield* subscriptionId
  const { disposition } = yield* Effect.mapError(
    conversation.submit({ type: "revert", turn_id: turnId }, { id: submission }),
    (error) => cannotSubmit(id, error),
  )
  if (disposition !== "waiting") return
  // From before the submission on, because the turn may have ended meanwhile.
  const listener = yield* Effect.mapError(conversation.attach({ from: seq }), cannotAttach)
  yield* untilEvent(listener, (event) => event.id === submission).pipe(
    Effect.catchTags({
      // The thread has ended, and its turn with it.
      Done: () => Effect.void,
      ConversationUnavailable: (error) => Effect.fail(unavailable(error)),
    }),
  )
}, Effect.scoped)

/** Handler of the method. */
export const threadRevert: ThreadHandler<typeof ThreadRevert> = Effect.fnUntraced(function* (
  { beforeTurnId, threadId },
  call,
) {
  const conversation = yield* find(threadId)
  const { id } = conversation
  call.hold(id)
  yield* revert(conversation, beforeTurnId)
  const state = yield* stateOf(conversation)
  const history = yield* historyOf(id, call)
  return {
    thread: yield* describe(id, { history, state }, call),
    ...newestOf(history),
  }
})
