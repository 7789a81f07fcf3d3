/** Applies the settings of `thread/resume` and `thread/fork` to a thread. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { ThreadFork } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { overrideSettings } from "../app/OverrideSettings.ts"
import { stateOf } from "./ThreadCall.ts"
import { badSettings, cannotSubmit } from "./ThreadErrors.ts"
import { approvalChange, sandboxOfProfile } from "./ThreadOverrides.ts"

/** Applies what is given and different. Fails for settings that are fixed when a thread is created. */
export const overrideThread = Effect.fnUntraced(function* (
  conversation: Conversation,
  given: Omit<Params<typeof ThreadFork>, "threadId">,
): Effect.fn.Return<void, JsonRpcError, SettingsResolver> {
  const { approvalPolicy, baseInstructions, config, cwd, model, modelProvider } = given
  const chosen = yield* sandboxOfProfile(given.permissions, { sandbox: given.sandbox })
  const sandbox = given.sandbox ?? chosen
  const { developerInstructions } = given
  const state = yield* stateOf(conversation)
  if (modelProvider != null && modelProvider !== state.settings.provider.id) {
    return yield* badSettings({
      message: "`modelProvider` is settled when a thread is created",
    })
  }
  const isNewText =
    developerInstructions != null && developerInstructions !== state.settings.developerInstructions
  yield* overrideSettings(
    conversation,
    {
      ...(baseInstructions == null ? {} : { baseInstructions }),
      ...(config == null ? {} : { config }),
      ...(cwd == null ? {} : { cwd }),
      ...(model == null ? {} : { model }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(isNewText ? { developerInstructions } : {}),
    },
    state,
  )
  const change = approvalChange(approvalPolicy)
  if (Object.keys(change).length === 0) return
  yield* Effect.mapError(
    conversation.submit({ type: "override_turn_context", ...change }),
    (error) => cannotSubmit(conversation.id, error),
  )
})
