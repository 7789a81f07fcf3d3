/**
 * Requests the summary of a history from the model: the history and a trigger message, a special system text and no tools.
 * Retried like any request of a turn. Records nothing, so a failure leaves the history unchanged.
 */
import { defined } from "@colloquy/protocol/Defined"
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
import { imagesOf, withoutImages } from "../../log/RefusedImages.ts"
import { compactPromptOf } from "./CompactPrompt.ts"
import { laterHalf } from "./Shorten.ts"

/** A summary. */
export interface Summary {
  /** Empty when the model sent no message. */
  readonly text: string
  /** Tokens of the request. Undefined when the provider reported none. */
  readonly usage: TokenUsage | undefined
}

const trigger: MessageItem = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: triggerText }],
}

const tooLong: EventMsg = {
  type: "background_event",
  message: "the history is too long to be summarised in one request; its oldest part is left out",
}

const imageRefused: EventMsg = {
  type: "background_event",
  message: "the model provider refused an image of the history; it is summarised without images",
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

const requestOf = (
  conversationId: ConversationId,
  settings: ConversationSettings,
  history: ReadonlyArray<ResponseItem>,
): ModelRequest => ({
  conversationId,
  provider: settings.provider,
  model: settings.model,
  instructions: compactPromptOf(settings),
  input: [...history, trigger],
  tools: [],
  ...reasoningOf(settings),
  ...defined({ verbosity: settings.verbosity }),
})

/** Resolves with the summary. `emit` gets events about retries and shortening. An interruption stops the model. */
export const summarise = Effect.fnUntraced(function* (
  of: { readonly conversationId: ConversationId; readonly settings: ConversationSettings },
  history: ReadonlyArray<ResponseItem>,
  emit: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>,
): Effect.fn.Return<Summary, ModelError, ModelClient> {
  const { conversationId, settings } = of
  let input = history
  let attempt = 0
  let isShortened = false
  while (true) {
    const outcome = yield* Effect.result(ask(requestOf(conversationId, settings, input)))
    if (outcome._tag === "Success") return outcome.success
    const error = outcome.failure
    const shorter = error.reason === "ContextWindow" ? laterHalf(input) : undefined
    const shown = error.reason === "Image" ? imagesOf(input).length : 0
    if (shorter !== undefined) {
      if (!isShortened) yield* emit([tooLong])
      isShortened = true
      input = shorter
    } else if (shown > 0) {
      yield* emit([imageRefused])
      input = withoutImages(input, { skip: 0, count: shown })
    } else {
      yield* beforeRetry(settings.provider, ++attempt, error, emit)
    }
  }
})
