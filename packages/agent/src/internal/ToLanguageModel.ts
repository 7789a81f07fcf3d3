/**
 * A chat as a `LanguageModel` of `effect/ai`: each request is a turn of the conversation. The conversation keeps its own
 * history and its own tools, so of a prompt only the messages after the last answer are asked, and a toolkit in the request
 * is refused.
 */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import type { TurnError } from "../AgentErrors.ts"
import type { Chat } from "../Chat.ts"
import type { Input, Turn } from "../Turn.ts"
import { withSchema } from "./Answer.ts"

const failed =
  (method: string) =>
  (error: TurnError): AiError.AiError =>
    AiError.make({
      module: "Agent",
      method,
      reason: new AiError.UnknownError({ description: `${error._tag}: ${error.message}` }),
    })

const unsupported = (description: string): AiError.AiError =>
  AiError.make({
    module: "Agent",
    method: "languageModel",
    reason: new AiError.InvalidUserInputError({ description }),
  })

/** An image of a prompt as an address. */
const imageUrl = ({ data, mediaType }: Prompt.FilePart): string => {
  if (data instanceof URL) return data.href
  if (typeof data === "string" && URL.canParse(data)) return data
  return `data:${mediaType};base64,${typeof data === "string" ? data : Base64.encode(data)}`
}

type AnyPart = Exclude<Prompt.Message["content"], string>[number]

const itemOf = (part: AnyPart): Result.Result<ReadonlyArray<InputItem>, AiError.AiError> => {
  if (part.type === "text") {
    return Result.succeed(part.text === "" ? [] : [{ type: "text", text: part.text }])
  }
  if (part.type === "file" && part.mediaType.startsWith("image/")) {
    return Result.succeed([{ type: "image", image_url: imageUrl(part) }])
  }
  const what = part.type === "file" ? `a file of type ${part.mediaType}` : `a ${part.type} part`
  return Result.fail(unsupported(`prompt: expected texts and images, got ${what}`))
}

/** What the model is asked: what was said since its last message. */
const inputOf = ({
  content,
}: Prompt.Prompt): Result.Result<ReadonlyArray<InputItem>, AiError.AiError> => {
  const parts = content
    .slice(content.findLastIndex(({ role }) => role === "assistant") + 1)
    .flatMap((message): ReadonlyArray<AnyPart> =>
      typeof message.content === "string"
        ? [Prompt.makePart("text", { text: message.content })]
        : message.content,
    )
  return Result.map(Result.all(parts.map(itemOf)), (items) => items.flat())
}

const usageOf = (usage: TokenUsage): typeof Response.Usage.Encoded => ({
  inputTokens: {
    uncached: usage.input_tokens - usage.cached_input_tokens,
    total: usage.input_tokens,
    cacheRead: usage.cached_input_tokens,
    cacheWrite: undefined,
  },
  outputTokens: {
    total: usage.output_tokens,
    text: usage.output_tokens - usage.reasoning_output_tokens,
    reasoning: usage.reasoning_output_tokens,
  },
})

const finish = (usage: TokenUsage): Response.FinishPartEncoded => ({
  type: "finish",
  reason: "stop",
  usage: usageOf(usage),
  response: undefined,
})

/** The parts of one turn, as they come. */
const partsOf = (turn: Turn): Stream.Stream<Response.StreamPartEncoded, TurnError> => {
  const id = turn.id
  const deltas = turn.events.pipe(
    Stream.filter((msg) => msg.type === "agent_message_delta"),
    Stream.map(({ delta }): Response.StreamPartEncoded => ({ type: "text-delta", id, delta })),
  )
  const end = Effect.map(turn.result, ({ usage }): ReadonlyArray<Response.StreamPartEncoded> => [
    { type: "text-end", id },
    finish(usage),
  ])
  return Stream.make<ReadonlyArray<Response.StreamPartEncoded>>({ type: "text-start", id }).pipe(
    Stream.concat(deltas),
    Stream.concat(Stream.fromIterableEffect(end)),
  )
}

const checked = ({
  prompt,
  responseFormat,
  tools,
}: LanguageModel.ProviderOptions): Effect.Effect<Input, AiError.AiError> =>
  Effect.gen(function* () {
    if (tools.length > 0) {
      return yield* unsupported(
        "toolkit: expected none, because an agent has tools of its own; give it them with Agent.make",
      )
    }
    const items = yield* Effect.fromResult(inputOf(prompt))
    if (items.length === 0) {
      return yield* unsupported("prompt: expected a text after the last answer")
    }
    return responseFormat.type === "json" ? withSchema(items, responseFormat.schema) : items
  })

/** Objects are read by the JSON codec of their schema, whose JSON Schema the model is told. */
const codecTransformer: LanguageModel.CodecTransformer = (schema) =>
  LanguageModel.defaultCodecTransformer(Schema.toCodecJson(schema))

/** A language model that asks this chat. */
export const make = <Q>(chat: Chat<Q>): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
    codecTransformer,
    generateText: (options) =>
      checked(options).pipe(
        Effect.flatMap((input) => Effect.mapError(chat.ask(input).result, failed("generateText"))),
        Effect.map(({ text, usage }) => [{ type: "text" as const, text }, finish(usage)]),
      ),
    streamText: (options) =>
      Stream.unwrap(
        Effect.flatMap(checked(options), (input) => {
          const { start } = chat.ask(input)
          const running = Effect.acquireRelease(start, ({ interrupt }) => interrupt, {
            interruptible: true,
          })
          return Effect.map(Effect.mapError(running, failed("streamText")), (turn) =>
            Stream.mapError(partsOf(turn), failed("streamText")),
          )
        }),
      ),
  })
