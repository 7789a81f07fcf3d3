/** When the history has become too long for the model, and the words for a history that stays so (§6.9). Pure. */
import type { ConversationSettings } from "../../ConversationSettings.ts"
import { instructionsOf } from "../Instructions.ts"
import { ModelError } from "../../ModelClient.ts"
import type { ContextTokens } from "../../log/TokenGauge.ts"
import { textTokens } from "../../log/Tokens.ts"

/**
 * Of the window: what is left has to hold the summary, its request, and what one more answer brings where it was only
 * estimated. The smallest known window leaves some 3,000 tokens.
 */
const defaultShare = 0.8

/** Tokens of a request from which on history is summarised; undefined: never by count. */
export const limitOf = ({
  autoCompactTokenLimit,
  contextWindow,
}: ConversationSettings): number | undefined => {
  if (autoCompactTokenLimit !== undefined) {
    return autoCompactTokenLimit === 0 ? undefined : autoCompactTokenLimit
  }
  return contextWindow === null ? undefined : Math.floor(contextWindow * defaultShare)
}

/** What the next request takes: as the provider counts it, as far as it has. The tools are not estimated. */
export const requestTokens = (
  settings: ConversationSettings,
  { counted, estimated }: ContextTokens,
): number => (counted ?? textTokens(instructionsOf(settings))) + estimated

export const isFull = (settings: ConversationSettings, tokens: ContextTokens): boolean => {
  const limit = limitOf(settings)
  return limit !== undefined && requestTokens(settings, tokens) >= limit
}

/** The history was summarised just now, and is too long again. */
export const stillAbove = (settings: ConversationSettings, tokens: ContextTokens): ModelError => {
  const limit = limitOf(settings) ?? settings.contextWindow ?? "unknown"
  return new ModelError({
    reason: "ContextWindow",
    message: `Conversation is still above the token limit after automatic summarization (limit ${limit}, current ${requestTokens(settings, tokens)}). Please start a new session or trim your input.`,
    retryable: false,
  })
}
