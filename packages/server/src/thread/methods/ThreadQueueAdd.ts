/** `thread/queue/add`: adds input to the queue of a thread, or starts a turn with it. Subscribes the caller if it is not. */
import { defined } from "@colloquy/protocol/Defined"
import type { Op } from "@colloquy/protocol/Op"
import type { ThreadQueueAdd } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import { find, follow, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"
import { inputItems } from "../ThreadInput.ts"
import { queuedIn, queuedSubmission } from "../ThreadQueue.ts"

/** Handler of the method. */
export const threadQueueAdd: ThreadHandler<typeof ThreadQueueAdd> = Effect.fnUntraced(
  function* (params, call) {
    const conversation = yield* find(params.threadId)
    const items = yield* inputItems(params.input)
    if (items.length === 0) return yield* invalid("input must not be empty")
    call.hold(conversation.id)
    yield* follow(conversation, call)
    const clientId = params.clientUserMessageId ?? undefined
    const op: Op = { type: "user_input", items, ...defined({ client_id: clientId }) }
    const { id } = yield* Effect.mapError(
      conversation.submit(op, { id: yield* subscriptionId, whileRunning: "enqueue" }),
      (error) => cannotSubmit(conversation.id, error),
    )
    const queued = (yield* queuedIn(conversation)).find((one) => one.id === id)
    const started = queuedSubmission({ id, items, ...defined({ clientId }) })
    return { queuedSubmission: queued ?? started }
  },
)
