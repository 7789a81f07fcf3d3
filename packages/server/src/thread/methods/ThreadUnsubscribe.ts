/** `thread/unsubscribe`: ends the subscription of this connection. A running turn goes on. */
import type { ThreadUnsubscribe } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { threadId, type ThreadHandler } from "../ThreadCall.ts"

/** Handler of the method. */
export const threadUnsubscribe: ThreadHandler<typeof ThreadUnsubscribe> = Effect.fnUntraced(
  function* (params, { connection }) {
    const id = yield* threadId(params.threadId)
    if (yield* connection.unsubscribe(id)) return { status: "unsubscribed" }
    return { status: connection.registry.isLoaded(id) ? "notSubscribed" : "notLoaded" }
  },
)
