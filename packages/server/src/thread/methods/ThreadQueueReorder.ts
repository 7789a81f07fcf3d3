/** `thread/queue/reorder`: changes the order of queued input. */
import type { ThreadQueueReorder } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { find, type ThreadHandler } from "../ThreadCall.ts"
import { changeQueue } from "../ThreadQueue.ts"

/** Handler of the method. */
export const threadQueueReorder: ThreadHandler<typeof ThreadQueueReorder> = Effect.fnUntraced(
  function* ({ queuedSubmissionIds: ids, threadId }, { hold }) {
    const conversation = yield* find(threadId)
    hold(conversation.id)
    yield* changeQueue(conversation, { type: "reorder_queue", ids })
    return {}
  },
)
