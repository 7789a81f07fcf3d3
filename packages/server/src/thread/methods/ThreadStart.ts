/** `thread/start`: creates a thread and subscribes to it. Every connection is notified after the response. */
import type { ThreadStart } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import { created, createThread } from "../CreatedThread.ts"
import type { ThreadHandler } from "../ThreadCall.ts"
import { notServed } from "../ThreadErrors.ts"
import { startSettings } from "../ThreadOverrides.ts"

/** Handler of the method. */
export const threadStart: ThreadHandler<typeof ThreadStart> = Effect.fnUntraced(
  function* (params, call) {
    if (params.dynamicTools != null && params.dynamicTools.length > 0) {
      return yield* notServed("`dynamicTools`")
    }
    const settings = yield* startSettings(params)
    const wanted = params.ephemeral === true ? { ...settings, ephemeral: true } : settings
    const conversation = yield* createThread(wanted)
    return yield* created(conversation, call, { raw: params.experimentalRawEvents === true }).pipe(
      removeOnFailure(conversation.id),
    )
  },
)
