/** `thread/compact/start`: starts a turn that summarises the history, after a running one. */
import type { ThreadCompactStart } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import { find, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"

/** Handler of the method. */
export const threadCompactStart: ThreadHandler<typeof ThreadCompactStart> = Effect.fnUntraced(
  function* (params, call) {
    const conversation = yield* find(params.threadId)
    call.hold(conversation.id)
    const id = yield* subscriptionId
    yield* Effect.mapError(
      conversation.submit({ type: "compact" }, { id, whileRunning: "wait" }),
      (error) => cannotSubmit(conversation.id, error),
    )
    return {}
  },
)
