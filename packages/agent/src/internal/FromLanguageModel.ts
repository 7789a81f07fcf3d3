/** Any `LanguageModel` of `effect/ai` as the model of an agent. */
import {
  ModelClient,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  type ToolSpec,
} from "@colloquy/core/ModelClient"
import { statusRefusesImage } from "@colloquy/models/RefusedImage"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import { failureText } from "@colloquy/tools/host/FailureText"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import { LanguageModel } from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { messagesOf } from "./PromptMessages.ts"

const toolOf = (spec: ToolSpec): AiTool.Any | undefined =>
  spec.type === "function"
    ? AiTool.dynamic(spec.name, { description: spec.description, parameters: spec.parameters })
    : undefined

const promptOf = ({ input, instructions }: ModelRequest): Prompt.RawInput => [
  ...(instructions === "" ? [] : [{ role: "system" as const, content: instructions }]),
  ...messagesOf(input),
]

const usageOf = ({ inputTokens, outputTokens }: Response.Usage): TokenUsage => {
  const input = inputTokens.total ?? 0
  const output = outputTokens.total ?? 0
  return {
    input_tokens: input,
    cached_input_tokens: inputTokens.cacheRead ?? 0,
    output_tokens: output,
    reasoning_output_tokens: outputTokens.reasoning ?? 0,
    total_tokens: input + output,
  }
}

const message = (text: string): ResponseItem => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
})

const reasonOf = (error: unknown): ModelError["reason"] =>
  AiError.isAiError(error) &&
  error.reason._tag === "InvalidRequestError" &&
  // Whatever the provider's status was, it is one of a bad request.
  statusRefusesImage(400, [], error.message)
    ? "Image"
    : "Stream"

const failed = (error: AiError.AiError): ModelError =>
  new ModelError({ reason: reasonOf(error), message: error.message, retryable: error.isRetryable })

type Part = Response.StreamPart<Record<string, AiTool.Any>>

/** The reasons with which a response ends before it is complete. */
const incomplete: Partial<Record<Response.FinishReason, string>> = {
  length: "the model reached the limit of output tokens",
  "content-filter": "the content filter of the provider stopped the answer",
  error: "the provider reported an error",
}

/** The failure of a part that reports one. */
const reported = (part: Part): ModelError | undefined => {
  if (part.type === "error") {
    const retryable = AiError.isAiError(part.error) ? part.error.isRetryable : true
    const reason = reasonOf(part.error)
    return new ModelError({ reason, message: failureText(part.error), retryable })
  }
  if (part.type !== "finish") return undefined
  const why = incomplete[part.reason]
  return why === undefined
    ? undefined
    : new ModelError({
        reason: "Stream",
        message: `incomplete response: ${why} (finish reason \`${part.reason}\`)`,
        retryable: false,
      })
}

/** Turns the parts of one response into model events. */
class Reader {
  private text = ""
  private finished = false

  read(part: Part): ReadonlyArray<ModelEvent> {
    switch (part.type) {
      case "text-delta":
        this.text += part.delta
        return [{ _tag: "TextDelta", delta: part.delta }]
      case "reasoning-delta":
        return [{ _tag: "ReasoningDelta", delta: part.delta }]
      case "text-end":
        return this.flush()
      case "tool-call":
        return [
          ...this.flush(),
          {
            _tag: "ItemDone",
            item: {
              type: "function_call",
              name: part.name,
              arguments: JSON.stringify(part.params),
              call_id: part.id,
            },
          },
        ]
      case "finish":
        this.finished = true
        return [...this.flush(), { _tag: "Completed", usage: usageOf(part.usage) }]
      default:
        return []
    }
  }

  /** What a provider that sends no `finish` has left. */
  end(): ReadonlyArray<ModelEvent> {
    return this.finished ? [] : [...this.flush(), { _tag: "Completed" }]
  }

  private flush(): ReadonlyArray<ModelEvent> {
    const { text } = this
    this.text = ""
    return text === "" ? [] : [{ _tag: "ItemDone", item: message(text) }]
  }
}

/** The port of the core over a language model. The conversation runs the tools; the language model only calls them. */
export const make = (model: LanguageModel): ModelClient["Service"] => ({
  stream: (request) =>
    Stream.suspend(() => {
      const reader = new Reader()
      const tools = request.tools.flatMap((spec) => toolOf(spec) ?? [])
      const parts = model.streamText({
        prompt: promptOf(request),
        toolkit: Toolkit.make(...tools),
        disableToolCallResolution: true,
      } as never) as unknown as Stream.Stream<Part, AiError.AiError>
      return parts.pipe(
        Stream.mapError(failed),
        Stream.mapEffect((part) => {
          const failure = reported(part)
          return failure === undefined ? Effect.sync(() => reader.read(part)) : Effect.fail(failure)
        }),
        Stream.flattenIterable,
        Stream.concat(Stream.suspend(() => Stream.fromIterable(reader.end()))),
      )
    }),
})

/** The same, of a layer. */
export const layerOf = <E, R>(
  layer: Layer.Layer<LanguageModel, E, R>,
): Layer.Layer<ModelClient, E, R> =>
  Layer.provide(Layer.effect(ModelClient, Effect.map(LanguageModel, make)), layer)
