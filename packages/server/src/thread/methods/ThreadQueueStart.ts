/** `thread/queue/start`: starts a turn with queued input. Subscribes the caller if it is not. */
import { defined } from "@colloquy/protocol/Defined"
import type { ThreadQueueStart } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { find, follow, type ThreadHandler } from "../ThreadCall.ts"
import { runningTurn } from "../ThreadFold.ts"
import { changeQueue } from "../ThreadQueue.ts"

/** Handler of the method. */
export const threadQueueStart: ThreadHandler<typeof ThreadQueueStart> = Effect.fnUntraced(
  function* ({ queuedSubmissionId, threadId }, call) {
    const conversation = yield* find(threadId)
    call.hold(conversation.id)
    yield* follow(conversation, call)
    const chosen = defined({ id: queuedSubmissionId ?? undefined })
    const { id } = yield* changeQueue(conversation, { type: "start_queued", ...chosen })
    return { turn: runningTurn(id, null) }
  },
)
