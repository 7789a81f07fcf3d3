/** `thread/queue/update`: replaces queued input, which keeps its place. */
import type { ThreadQueueUpdate } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { find, type ThreadHandler } from "../ThreadCall.ts"
import { inputItems } from "../ThreadInput.ts"
import { changeQueue, queuedIn, queuedSubmission } from "../ThreadQueue.ts"

/** Handler of the method. */
export const threadQueueUpdate: ThreadHandler<typeof ThreadQueueUpdate> = Effect.fnUntraced(
  function* (params, { hold }) {
    const { queuedSubmissionId: id } = params
    const conversation = yield* find(params.threadId)
    const items = yield* inputItems(params.input)
    if (items.length === 0) return yield* invalid("input must not be empty")
    hold(conversation.id)
    yield* changeQueue(conversation, { type: "edit_queued", id, items })
    const queued = (yield* queuedIn(conversation)).find((one) => one.id === id)
    return { queuedSubmission: queued ?? queuedSubmission({ id, items }) }
  },
)
