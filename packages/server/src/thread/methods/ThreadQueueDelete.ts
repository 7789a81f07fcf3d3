/** `thread/queue/delete`: removes queued input. */
import type { ThreadQueueDelete } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { find, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"

/** Handler of the method. */
export const threadQueueDelete: ThreadHandler<typeof ThreadQueueDelete> = Effect.fnUntraced(
  function* ({ queuedSubmissionId: id, threadId }, { hold }) {
    const conversation = yield* find(threadId)
    hold(conversation.id)
    const removed = Effect.as(conversation.submit({ type: "remove_queued", id }), true)
    const deleted = yield* Effect.catch(removed, (error) =>
      error._tag === "SubmissionRefused" && error.reason === "NotQueued"
        ? Effect.succeed(false)
        : Effect.fail(cannotSubmit(conversation.id, error)),
    )
    return { deleted }
  },
)
