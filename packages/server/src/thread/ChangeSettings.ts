/** Changes the settings of a thread's later turns, as params give them. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import { ThreadSettingsUpdated } from "@colloquy/protocol/thread/Notifications"
import type { ThreadSettingsUpdate } from "@colloquy/protocol/thread/ThreadChanges"
import * as Effect from "effect/Effect"
import { tell } from "./CreatedThread.ts"
import { stateOf, type ThreadCall } from "./ThreadCall.ts"
import { cannotSubmit } from "./ThreadErrors.ts"
import { settingsOf } from "./ThreadObjects.ts"
import { changeOf } from "./ThreadOverrides.ts"

/** Changes what is different. The result notifies the subscribers, if anything is. */
export const changeSettings = Effect.fnUntraced(function* (
  conversation: Conversation,
  given: Omit<Params<typeof ThreadSettingsUpdate>, "threadId">,
  call: ThreadCall,
): Effect.fn.Return<Effect.Effect<void>, JsonRpcError, SettingsResolver> {
  const change = yield* changeOf(given, yield* stateOf(conversation))
  if (change === undefined) return Effect.void
  yield* Effect.mapError(
    conversation.submit({ type: "override_turn_context", ...change }),
    (error) => cannotSubmit(conversation.id, error),
  )
  const { settings } = yield* stateOf(conversation)
  const params = { threadId: conversation.id, threadSettings: settingsOf(settings) }
  const { connection } = call
  return Effect.andThen(
    connection.isSubscribed(conversation.id)
      ? tell(call, ThreadSettingsUpdated, params)
      : Effect.void,
    Effect.sync(() =>
      connection.registry.announceToFollowers(
        conversation.id,
        ThreadSettingsUpdated,
        params,
        connection.member,
      ),
    ),
  )
})
