/** `thread/read`: describes a thread, with its turns if asked for. Loads nothing. */
import type { ThreadRead } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { knownReadState } from "../ReadState.ts"
import { describe, historyOf, threadId, type ThreadHandler } from "../ThreadCall.ts"

/** Handler of the method. */
export const threadRead: ThreadHandler<typeof ThreadRead> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    const history = yield* historyOf(id, call)
    if (params.includeTurns === true) yield* call.connection.roomForLargeResult(call)
    const turns = params.includeTurns === true ? history.turns : []
    const thread = yield* describe(id, { history, turns }, call)
    return { thread, readState: thread.ephemeral ? null : knownReadState(history.fold.reading) }
  },
)
