/**
 * Asks the model for the summary of a history (§6.9): the history and the trigger, no tools, a system text of its own.
 * Repeated like any request of a turn; nothing of it is recorded, so one that fails leaves the history as it was.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { MessageItem, ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConversationSettings } from "../../ConversationSettings.ts"
import { ModelClient, type ModelError, type ModelRequest } from "../../ModelClient.ts"
import { answerOf } from "../../log/MessageEvents.ts"
import { reasoningOf } from "../Reasoning.ts"
import { beforeRetry } from "../Retry.ts"
import { triggerText } from "../../log/Compacted.ts"
import { compactPromptOf } from "./CompactPrompt.ts"
import { laterHalf } from "./Shorten.ts"

export interface Summary {
  /** Empty when the model said nothing. */
  readonly text: string
  readonly usage: TokenUsage | undefined
}

const trigger: MessageItem = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: triggerText }],
}

const tooLong: EventMsg = {
  type: "background_event",
  message: "the history is too long to be summarised whole: its oldest part is left out",
}

const ask = (request: ModelRequest): Effect.Effect<Summary, ModelError, ModelClient> =>
  Effect.flatMap(ModelClient, (models) =>
    models.stream(request).pipe(
      Stream.runFold(
        (): Summary => ({ text: "", usage: undefined }),
        (summary, event) => {
          if (event._tag === "Completed") return { ...summary, usage: event.usage }
          if (event._tag !== "ItemDone") return summary
          return { ...summary, text: answerOf(event.item) ?? summary.text }
        },
      ),
    ),
  )

/** `tell` gets what the person should know meanwhile. Interrupting it stops the model. */
export const summarise = Effect.fnUntraced(function* (
  of: { readonly conversationId: ConversationId; readonly settings: ConversationSettings },
  history: ReadonlyArray<ResponseItem>,
  tell: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>,
): Effect.fn.Return<Summary, ModelError, ModelClient> {
  const { conversationId, settings } = of
  let input = history
  let attempt = 0
  while (true) {
    const outcome = yield* Effect.result(
      ask({
        conversationId,
        provider: settings.provider,
        model: settings.model,
        instructions: compactPromptOf(settings),
        input: [...input, trigger],
        tools: [],
        ...reasoningOf(settings),
        ...(settings.verbosity === undefined ? {} : { verbosity: settings.verbosity }),
      }),
    )
    if (outcome._tag === "Success") return outcome.success
    const error = outcome.failure
    const shorter = error.reason === "ContextWindow" ? laterHalf(input) : undefined
    if (shorter === undefined) {
      yield* beforeRetry(settings.provider, ++attempt, error, tell)
    } else {
      if (input === history) yield* tell([tooLong])
      input = shorter
    }
  }
})
