/** Maps the overrides of a request to settings of a conversation, and a conversation to members of a result. */
import type { Conversation } from "@colloquy/core/Conversation"
import {
  type ConversationSettings,
  type SettingsOverrides,
  SettingsResolver,
} from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { type ConversationOverrides, present } from "@colloquy/protocol/app/Fields"
import * as Effect from "effect/Effect"
import { badSettings } from "./AppErrors.ts"

const overridesOf = (given: ConversationOverrides): SettingsOverrides => {
  const { includeApplyPatchTool, ...overrides } = present(given)
  return includeApplyPatchTool === undefined
    ? overrides
    : {
        ...overrides,
        config: { ...overrides.config, include_apply_patch_tool: includeApplyPatchTool },
      }
}

/**
 * The settings of a new conversation with these overrides. Fails with `error deriving config` if they are not valid.
 *
 * @param options further requirements on the settings
 */
export const settingsOf = (
  given: ConversationOverrides,
  options: Pick<SettingsOverrides, "requiresProvider"> = {},
): Effect.Effect<ConversationSettings, JsonRpcError, SettingsResolver> =>
  Effect.flatMap(SettingsResolver, (resolver) =>
    Effect.mapError(resolver.resolve({ ...overridesOf(given), ...options }), badSettings),
  )

/** The members that describe a conversation in the result of every method that creates or describes one. */
export const conversationResult = (
  { id }: Conversation,
  { effort, model }: ConversationSettings,
) => ({
  conversationId: id,
  model,
  ...(effort === undefined ? {} : { reasoningEffort: effort }),
})
