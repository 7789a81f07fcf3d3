/** `thread/queue/list`: the queued input of a thread, in pages. */
import type { ThreadQueueList } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { find, type ThreadHandler } from "../ThreadCall.ts"
import { pageOf } from "../ThreadPages.ts"
import { queuedIn } from "../ThreadQueue.ts"

/** Handler of the method. */
export const threadQueueList: ThreadHandler<typeof ThreadQueueList> = Effect.fnUntraced(
  function* (params) {
    const queued = yield* queuedIn(yield* find(params.threadId))
    const { data, nextCursor } = yield* pageOf(
      queued,
      { ...params, sortDirection: "asc" },
      ({ id }) => id,
    )
    return { data, nextCursor }
  },
)
