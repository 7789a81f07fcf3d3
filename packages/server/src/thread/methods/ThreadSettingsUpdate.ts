/** `thread/settings/update`: changes settings of later turns. Subscribers are notified after the response. */
import type { ThreadSettingsUpdate } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { changeSettings } from "../ChangeSettings.ts"
import { find, type ThreadHandler } from "../ThreadCall.ts"

/** Handler of the method. */
export const threadSettingsUpdate: ThreadHandler<typeof ThreadSettingsUpdate> = Effect.fnUntraced(
  function* (params, call) {
    const conversation = yield* find(params.threadId)
    call.hold(conversation.id)
    const notify = yield* changeSettings(conversation, params, call)
    call.afterAnswer(notify)
    return {}
  },
)
