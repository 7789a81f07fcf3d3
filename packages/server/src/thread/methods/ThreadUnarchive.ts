/** `thread/unarchive`: makes an archived thread listed again. Every connection is notified. Loads nothing. */
import type { ThreadUnarchive } from "@colloquy/protocol/thread/ThreadChanges"
import { ThreadUnarchived } from "@colloquy/protocol/thread/Notifications"
import * as Effect from "effect/Effect"
import { ConversationsView } from "../../ConversationsView.ts"
import { announceRecorded } from "../CreatedThread.ts"
import { describe, historyOf, threadId, type ThreadHandler } from "../ThreadCall.ts"
import { cannotRemove, notArchived, storeFailed } from "../ThreadErrors.ts"

/** Handler of the method. */
export const threadUnarchive: ThreadHandler<typeof ThreadUnarchive> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    const conversations = yield* ConversationsView
    const { archived } = yield* Effect.mapError(conversations.metadata({ id }), (error) =>
      error._tag === "NoSuchConversation" ? notArchived(id) : storeFailed(error),
    )
    if (!archived) return yield* notArchived(id)
    yield* Effect.mapError(conversations.unarchive(id), (error) =>
      cannotRemove(id, error, notArchived),
    )
    call.connection.registry.unarchived(id)
    const history = yield* historyOf(id, call)
    const thread = yield* describe(id, { history }, call)
    call.afterAnswer(announceRecorded(call, ThreadUnarchived, { threadId: id }))
    return { thread }
  },
)
