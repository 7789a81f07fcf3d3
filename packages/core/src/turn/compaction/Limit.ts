/** Decides when the history is too long for the model, and makes the error for one that stays too long. Pure. */
import type { ConversationSettings } from "../../ConversationSettings.ts"
import { instructionsOf } from "../Instructions.ts"
import { ModelError } from "../../ModelClient.ts"
import type { ContextTokens } from "../../log/TokenGauge.ts"
import { textTokens } from "../../log/Tokens.ts"

/**
 * Default limit as a share of the context window. The rest has to hold the summary, its request and one more answer whose
 * size was only estimated. With the smallest known window that is some 3,000 tokens.
 */
const defaultShare = 0.8

/** Size of a request in tokens at which the history is summarised; undefined when no size causes a summary. */
export const limitOf = ({
  autoCompactTokenLimit,
  contextWindow,
}: ConversationSettings): number | undefined => {
  if (autoCompactTokenLimit !== undefined) {
    return autoCompactTokenLimit === 0 ? undefined : autoCompactTokenLimit
  }
  return contextWindow === null ? undefined : Math.floor(contextWindow * defaultShare)
}

/** Size of the next request in tokens: the provider's count, as far as there is one, plus estimates. Tools are left out. */
export const requestTokens = (
  settings: ConversationSettings,
  { counted, estimated }: ContextTokens,
): number => (counted ?? textTokens(instructionsOf(settings))) + estimated

/** True when the next request reaches the limit. */
export const isFull = (settings: ConversationSettings, tokens: ContextTokens): boolean => {
  const limit = limitOf(settings)
  return limit !== undefined && requestTokens(settings, tokens) >= limit
}

/** The error for a history that is too long right after a summary, in the words of the original program. */
export const stillAbove = (settings: ConversationSettings, tokens: ContextTokens): ModelError => {
  const limit = limitOf(settings) ?? settings.contextWindow ?? "unknown"
  return new ModelError({
    reason: "ContextWindow",
    message: `Conversation is still above the token limit after automatic summarization (limit ${limit}, current ${requestTokens(settings, tokens)}). Please start a new session or trim your input.`,
    retryable: false,
  })
}
