/** `thread/archive`: interrupts what runs of the thread, ends and archives it. Every connection is notified. */
import type { ThreadArchive } from "@colloquy/protocol/thread/ThreadChanges"
import { ThreadArchived } from "@colloquy/protocol/thread/Notifications"
import * as Effect from "effect/Effect"
import { ConversationsView } from "../../ConversationsView.ts"
import { announceRecorded } from "../CreatedThread.ts"
import { threadId, type ThreadHandler } from "../ThreadCall.ts"
import { cannotRemove, noRollout, storeFailed } from "../ThreadErrors.ts"
import { unloaded } from "../UnloadedThread.ts"

/** Handler of the method. */
export const threadArchive: ThreadHandler<typeof ThreadArchive> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    const conversations = yield* ConversationsView
    const { archived, meta } = yield* Effect.mapError(conversations.metadata({ id }), (error) =>
      error._tag === "NoSuchConversation" ? noRollout(id) : storeFailed(error),
    )
    if (archived || meta.ephemeral === true) return yield* noRollout(id)
    yield* Effect.mapError(conversations.archive(id), (error) => cannotRemove(id, error, noRollout))
    yield* unloaded(id, call)
    call.afterAnswer(announceRecorded(call, ThreadArchived, { threadId: id }))
    return {}
  },
)
