/** `thread/delete`: ends a thread and deletes it, archived or not. Every connection is notified. */
import type { ThreadDelete } from "@colloquy/protocol/thread/ThreadChanges"
import { ThreadDeleted } from "@colloquy/protocol/thread/Notifications"
import * as Effect from "effect/Effect"
import { ConversationsView } from "../../ConversationsView.ts"
import { announceRecorded } from "../CreatedThread.ts"
import { threadId, type ThreadHandler } from "../ThreadCall.ts"
import { cannotRemove, noRollout } from "../ThreadErrors.ts"
import { unloaded } from "../UnloadedThread.ts"

/** Handler of the method. */
export const threadDelete: ThreadHandler<typeof ThreadDelete> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    const conversations = yield* ConversationsView
    yield* Effect.mapError(conversations.remove(id), (error) => cannotRemove(id, error, noRollout))
    yield* unloaded(id, call)
    call.afterAnswer(announceRecorded(call, ThreadDeleted, { threadId: id }))
    return {}
  },
)
