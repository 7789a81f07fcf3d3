/** The read states of the threads of a list. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ReadState } from "@colloquy/protocol/thread/Thread"
import * as Effect from "effect/Effect"
import type { ConversationsView } from "../ConversationsView.ts"
import { knownReadState, type ListedThread } from "./ReadState.ts"
import { historyOf, type ThreadCall } from "./ThreadCall.ts"

/** Most logs that one list reads for this: of a longer page the later threads have no state. */
const maxRead = 50

/** The states of the threads of a page. The log of a thread is read again only when it has changed. */
export const readStatesOf = Effect.fnUntraced(function* (
  threads: ReadonlyArray<ListedThread>,
  call: ThreadCall,
): Effect.fn.Return<Record<string, ReadState>, JsonRpcError, ConversationsView> {
  const cache = call.connection.registry.readStates
  const states: Record<string, ReadState> = {}
  let left = maxRead
  for (const thread of threads) {
    let state = cache.get(thread)
    if (state === undefined) {
      if (left-- <= 0) continue
      const history = yield* historyOf(thread.id, call).pipe(
        // The list shows the thread without this state; opening the thread reports the reason.
        Effect.tapError(({ message }) =>
          Effect.logDebug(`the log of thread ${thread.id} could not be read: ${message}`),
        ),
        Effect.option,
      )
      if (history._tag === "None") continue
      state = knownReadState(history.value.fold.reading)
      cache.put(thread, state)
    }
    if (state !== null) states[thread.id] = state
  }
  return states
})
