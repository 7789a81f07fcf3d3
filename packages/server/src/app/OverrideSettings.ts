/** Applies the overrides of a request to the settings of an existing conversation. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { type ConversationOverrides, present } from "@colloquy/protocol/app/Fields"
import * as Effect from "effect/Effect"
import { userTurn } from "../mcp/conversation/Overrides.ts"
import { badSettings, cannotSubmit, invalid } from "./AppErrors.ts"

/** Settings that are fixed when a conversation is created. */
const fixed = [
  "includePlanTool",
  "includeApplyPatchTool",
  "developerInstructions",
  "compactPrompt",
] as const

/**
 * Submits the overrides as new settings of the conversation. Does nothing without overrides. Fails with `error deriving
 * config` for settings that are invalid, or that are fixed.
 *
 * @param state state of the conversation, with the settings to which the overrides are applied
 */
export const overrideSettings = Effect.fnUntraced(function* (
  conversation: Conversation,
  overrides: ConversationOverrides,
  state: State,
): Effect.fn.Return<void, JsonRpcError, SettingsResolver> {
  const given = present(overrides)
  if (Object.keys(given).length === 0) return
  const wrong = fixed.find((name) => given[name] !== undefined)
  if (wrong !== undefined) {
    return yield* invalid(
      `error deriving config: \`${wrong}\` is settled when a conversation is made`,
    )
  }
  const { approvalPolicy, baseInstructions, config, cwd, model, profile, sandbox } = given
  const wanted = {
    ...(approvalPolicy === undefined ? {} : { approval_policy: approvalPolicy }),
    ...(baseInstructions === undefined ? {} : { base_instructions: baseInstructions }),
    ...(config === undefined ? {} : { config }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    ...(profile === undefined ? {} : { profile }),
    ...(sandbox === undefined ? {} : { sandbox }),
  }
  const op = yield* Effect.mapError(userTurn([], wanted, state), ({ message }) =>
    badSettings({ message: message.replace(/^Failed to load config: /, "") }),
  )
  if (op.type !== "user_turn") return
  const { items: _, final_output_json_schema: __, ...context } = op
  yield* Effect.mapError(
    conversation.submit({ ...context, type: "override_turn_context" }),
    (error) => cannotSubmit(conversation.id, error),
  )
})
