/** `thread/items/list`: the items of a thread, or of one turn, in pages. Loads nothing. */
import type { ThreadItemsList } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { historyOf, threadId, type ThreadHandler } from "../ThreadCall.ts"
import { pageOf } from "../ThreadPages.ts"

/** Handler of the method. */
export const threadItemsList: ThreadHandler<typeof ThreadItemsList> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    const { turns } = yield* historyOf(id, call)
    yield* call.connection.roomForLargeResult(call)
    const items = turns.flatMap((turn) =>
      params.turnId == null || params.turnId === turn.id
        ? turn.items.map((item) => ({
            turnId: turn.id,
            item,
            startedAtMs: item.startedAtMs,
            completedAtMs: item.completedAtMs,
          }))
        : [],
    )
    const page = { ...params, sortDirection: params.sortDirection ?? "asc" }
    return yield* pageOf(items, page, ({ item }) => item.id)
  },
)
