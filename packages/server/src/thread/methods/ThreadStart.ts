/** `thread/start`: creates a thread and subscribes to it. Every connection is notified after the response. */
import { ConfigWarning } from "@colloquy/protocol/thread/Notifications"
import type { ThreadStart } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import { created, createThread, tell } from "../CreatedThread.ts"
import type { ThreadHandler } from "../ThreadCall.ts"
import { clientTool } from "../ThreadCalls.ts"
import { startSettings } from "../ThreadOverrides.ts"

/** Handler of the method. */
export const threadStart: ThreadHandler<typeof ThreadStart> = Effect.fnUntraced(
  function* (params, call) {
    const settings = yield* startSettings(params)
    const warning = yield* call.connection.configWarnings.next
    if (warning !== undefined) yield* tell(call, ConfigWarning, warning)
    const conversation = yield* createThread({
      ...settings,
      ...(params.ephemeral === true ? { ephemeral: true } : {}),
      ...(params.dynamicTools == null ? {} : { clientTools: params.dynamicTools.map(clientTool) }),
    })
    return yield* created(conversation, call, { raw: params.experimentalRawEvents === true }).pipe(
      removeOnFailure(conversation.id),
    )
  },
)
