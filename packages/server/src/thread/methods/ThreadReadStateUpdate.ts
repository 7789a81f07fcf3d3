/** `thread/readState/update`: marks a thread as read or unread; subscribers are notified before the response. */
import { ThreadReadStateChanged } from "@colloquy/protocol/thread/Notifications"
import type { ThreadReadStateUpdate } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { tell } from "../CreatedThread.ts"
import { readState } from "../ReadState.ts"
import { find, stateOf, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit, isEphemeral, readStateConflict } from "../ThreadErrors.ts"

/** Handler of the method. */
export const threadReadStateUpdate: ThreadHandler<typeof ThreadReadStateUpdate> = Effect.fnUntraced(
  function* ({ expectedRevision, operation, threadId }, call) {
    const conversation = yield* find(threadId)
    const { connection } = call
    const { id } = conversation
    const { reading, settings } = yield* stateOf(conversation)
    if (settings.ephemeral === true) return yield* isEphemeral(id)
    const before = readState(reading)
    if (before.revision !== expectedRevision) return yield* readStateConflict(before)
    const now = Effect.map(stateOf(conversation), (state) => readState(state.reading))
    const marked = conversation.submit({
      type: "mark_read",
      read: operation.type === "read",
      revision: Number(expectedRevision),
    })
    yield* Effect.catch(marked, (error) =>
      error._tag === "SubmissionRefused" && error.reason === "ReadingChanged"
        ? Effect.flatMap(now, (state) => readStateConflict(state))
        : Effect.fail(cannotSubmit(id, error)),
    )
    const params = { threadId: id, readState: yield* now }
    if (params.readState.revision !== before.revision) {
      if (connection.isSubscribed(id)) yield* tell(call, ThreadReadStateChanged, params)
      connection.registry.announceToFollowers(id, ThreadReadStateChanged, params, connection.member)
    }
    return { readState: params.readState }
  },
)
