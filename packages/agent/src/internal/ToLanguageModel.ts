/**
 * A chat as a `LanguageModel` of `effect/ai`: each request is a turn of the conversation. The conversation keeps its own
 * history and its own tools, so of a prompt only the messages after the last answer are asked, and a toolkit in the request
 * is refused.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
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

const textOf = (message: Prompt.Message): string =>
  typeof message.content === "string"
    ? message.content
    : message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** The text that the model is asked: what was said since its last message. */
const inputOf = ({ content }: Prompt.Prompt): string =>
  content
    .slice(content.findLastIndex(({ role }) => role === "assistant") + 1)
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n\n")

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
}: LanguageModel.ProviderOptions): Effect.Effect<Input, AiError.AiError> => {
  const input = inputOf(prompt)
  if (tools.length > 0) {
    return Effect.fail(
      unsupported(
        "toolkit: expected none, because an agent has tools of its own; give it them with Agent.make",
      ),
    )
  }
  if (input === "") {
    return Effect.fail(unsupported("prompt: expected a text after the last answer"))
  }
  return Effect.succeed(
    responseFormat.type === "json"
      ? withSchema([{ type: "text", text: input }], responseFormat.schema)
      : input,
  )
}

/** A language model that asks this chat. */
export const make = <Q>(chat: Chat<Q>): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
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
