/** `thread/turns/list`: the turns of a thread in pages. Loads nothing. */
import type { ThreadTurnsList } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { historyOf, threadId, type ThreadHandler } from "../ThreadCall.ts"
import { viewed } from "../ThreadHistory.ts"
import { pageOf } from "../ThreadPages.ts"

/** Handler of the method. */
export const threadTurnsList: ThreadHandler<typeof ThreadTurnsList> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    const { turns } = yield* historyOf(id, call)
    yield* call.connection.roomForLargeResult(call)
    const view = params.itemsView ?? "summary"
    const page = { ...params, sortDirection: params.sortDirection ?? "desc" }
    const { data, ...cursors } = yield* pageOf(turns, page, (turn) => turn.id)
    return { data: data.map((turn) => viewed(turn, view)), ...cursors }
  },
)
