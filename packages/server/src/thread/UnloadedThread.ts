/** What archiving and deleting a thread have in common: its subscribers are sent its end, and all connections that it is gone. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import { ThreadStatusChanged } from "@colloquy/protocol/thread/Notifications"
import * as Effect from "effect/Effect"
import { tellAll } from "./CreatedThread.ts"
import type { ThreadCall } from "./ThreadCall.ts"

/** The thread was archived or deleted. Resolves once the caller was sent its last event. */
export const unloaded = Effect.fnUntraced(function* (
  threadId: ConversationId,
  call: ThreadCall,
): Effect.fn.Return<void> {
  const { registry } = call.connection
  yield* call.connection.ended(threadId)
  if (registry.unloaded(threadId)) {
    yield* tellAll(call, ThreadStatusChanged, { threadId, status: { type: "notLoaded" } })
  }
})
