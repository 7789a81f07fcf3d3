/** `thread/name/set`: names a thread, archived or not. Every connection is notified. Loads nothing. */
import type { ThreadNameSet } from "@colloquy/protocol/thread/ThreadChanges"
import { ThreadNameUpdated } from "@colloquy/protocol/thread/Notifications"
import * as Effect from "effect/Effect"
import { failed, invalid } from "../../app/AppErrors.ts"
import { ConversationsView } from "../../ConversationsView.ts"
import { announceRecorded } from "../CreatedThread.ts"
import { threadId, type ThreadHandler } from "../ThreadCall.ts"
import { isEphemeral, noRollout, storeFailed } from "../ThreadErrors.ts"

/** Handler of the method. */
export const threadNameSet: ThreadHandler<typeof ThreadNameSet> = Effect.fnUntraced(
  function* (params, call) {
    const id = yield* threadId(params.threadId)
    if (params.name.trim() === "") return yield* invalid("thread name must not be empty")
    const conversations = yield* ConversationsView
    const { meta } = yield* Effect.mapError(conversations.metadata({ id }), (error) =>
      error._tag === "NoSuchConversation" ? noRollout(id) : storeFailed(error),
    )
    if (meta.ephemeral === true) return yield* isEphemeral(id)
    const threadName = yield* Effect.mapError(conversations.rename(id, params.name), (error) => {
      switch (error._tag) {
        case "BadConversationName":
          return invalid(error.message)
        case "NoSuchConversation":
          return noRollout(id)
        default:
          return failed(error)
      }
    })
    call.afterAnswer(announceRecorded(call, ThreadNameUpdated, { threadId: id, threadName }))
    return {}
  },
)
