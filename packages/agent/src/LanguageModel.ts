/** A conversation as a model for code that is written for `effect/ai`. */
import type * as Effect from "effect/Effect"
import type * as AiLanguageModel from "effect/ai/LanguageModel"
import type { Chat } from "./Chat.ts"
import { checkOptions, made } from "./internal/Options.ts"
import { make } from "./internal/ToLanguageModel.ts"

/**
 * An `effect/ai` `LanguageModel` whose every request is a turn of this chat: of the prompt it is asked what follows the
 * last answer. `generateObject` adds its JSON Schema to the text. A failed turn is an `AiError`. A toolkit in a
 * request is refused: an agent has tools of its own.
 */
export const languageModel = <Q>(chat: Chat<Q>): Effect.Effect<AiLanguageModel.LanguageModel> => {
  checkOptions("Agent.languageModel chat", made("an open chat", "ask"), chat)
  return make(chat)
}
