/** From what a client asks of a conversation to its settings, and what it is told of one that was made. */
import type { Conversation } from "@colloquy/core/Conversation"
import {
  type ConversationSettings,
  type SettingsOverrides,
  SettingsResolver,
} from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { type ConversationOverrides, present } from "@colloquy/protocol/app/Fields"
import * as Effect from "effect/Effect"
import { badSettings } from "../AppErrors.ts"

const overridesOf = (given: ConversationOverrides): SettingsOverrides => {
  const { includeApplyPatchTool, ...overrides } = present(given)
  return includeApplyPatchTool === undefined
    ? overrides
    : {
        ...overrides,
        config: { ...overrides.config, include_apply_patch_tool: includeApplyPatchTool },
      }
}

export const settingsOf = (
  given: ConversationOverrides,
  options: Pick<SettingsOverrides, "requiresProvider"> = {},
): Effect.Effect<ConversationSettings, JsonRpcError, SettingsResolver> =>
  Effect.flatMap(SettingsResolver, (resolver) =>
    Effect.mapError(resolver.resolve({ ...overridesOf(given), ...options }), badSettings),
  )

export const conversationResult = (
  { id }: Conversation,
  { effort, model }: ConversationSettings,
) => ({
  conversationId: id,
  model,
  ...(effort === undefined ? {} : { reasoningEffort: effort }),
})
