/**
 * The Chat Completions wire (§6.6): the JSON body of `POST {base}/chat/completions` and the meaning of its chunks.
 *
 * Pure: no HTTP, no clock. Text streams as it arrives and every tool call of a response counts, told apart by
 * `index`; the original held text back and ran several calls into one (original-behaviour §2, §4).
 */
import type { ModelError, ModelEvent, ModelRequest } from "@colloquy/core/ModelClient"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { chatMessages } from "./internal/ChatMessages.ts"
import { makeToolCalls, ToolCallDelta } from "./internal/ChatToolCalls.ts"
import { malformed, streamFailure } from "./internal/Failures.ts"
import { isOverflow } from "./internal/Overflow.ts"
import { Tokens, usageOf } from "./internal/Usage.ts"
import { oneLine, parseEvent, type Phase, type WireDecoder } from "./internal/WireDecoder.ts"

/** Tools of other kinds have no form on this wire (§6.6). */
const toolsOf = (request: ModelRequest) => {
  const functions = request.tools.filter((tool) => tool.type === "function")
  if (functions.length === 0) return {}
  return {
    tools: functions.map(({ description, name, parameters }) => ({
      type: "function",
      function: { name, description, strict: false, parameters },
    })),
  }
}

/** The request body. `tools` is left out when there are none: providers reject an empty list. */
export const body = (request: ModelRequest): Readonly<Record<string, unknown>> => ({
  model: request.model,
  messages: chatMessages(request.instructions, request.input),
  stream: true,
  stream_options: { include_usage: true },
  ...toolsOf(request),
})

const nullable = <T, E>(schema: Schema.Codec<T, E>) => Schema.optional(Schema.NullOr(schema))

const Delta = Schema.Struct({
  content: Schema.optional(Schema.Unknown),
  refusal: nullable(Schema.String),
  reasoning: Schema.optional(Schema.Unknown),
  reasoning_content: Schema.optional(Schema.Unknown),
  tool_calls: nullable(Schema.Array(ToolCallDelta)),
})

const Chunk = Schema.Struct({
  choices: nullable(
    Schema.Array(
      Schema.Struct({
        delta: nullable(Delta),
        message: nullable(Delta),
        finish_reason: nullable(Schema.String),
      }),
    ),
  ),
  usage: Schema.optional(Schema.Unknown),
  /** Some gateways put the fault of a started stream into a chunk. */
  error: Schema.optional(Schema.Unknown),
})
const decodeChunk = Schema.decodeUnknownResult(Chunk)

const Usage = Schema.Struct({
  prompt_tokens: Tokens,
  prompt_tokens_details: nullable(Schema.Struct({ cached_tokens: nullable(Tokens) })),
  completion_tokens: Tokens,
  completion_tokens_details: nullable(Schema.Struct({ reasoning_tokens: nullable(Tokens) })),
  total_tokens: nullable(Tokens),
})
const decodeUsage = Schema.decodeUnknownOption(Usage)

/** Usage nobody can read is no reason to lose the answer. */
const readUsage = (u: unknown): TokenUsage | undefined =>
  Option.getOrUndefined(
    Option.map(decodeUsage(u), (found) =>
      usageOf({
        input: found.prompt_tokens,
        cached: found.prompt_tokens_details?.cached_tokens,
        output: found.completion_tokens,
        reasoning: found.completion_tokens_details?.reasoning_tokens,
        total: found.total_tokens,
      }),
    ),
  )

const Part = Schema.Struct({
  text: Schema.optional(Schema.String),
  content: Schema.optional(Schema.String),
})
const decodePart = Schema.decodeUnknownOption(Part)

/** A text given as a string, as `{text}` or `{content}`, or as a list of such parts; anything else has none. */
const readText = (u: unknown): string => {
  if (typeof u === "string") return u
  if (Array.isArray(u)) return u.map(readText).join("")
  const part = Option.getOrUndefined(decodePart(u))
  return part?.text ?? part?.content ?? ""
}

const decodeFault = Schema.decodeUnknownOption(
  Schema.Struct({ message: Schema.String, code: Schema.optional(Schema.Unknown) }),
)

const chunkFault = (error: unknown): ModelError => {
  const fault =
    typeof error === "string" ? { message: error } : Option.getOrUndefined(decodeFault(error))
  if (fault === undefined) return streamFailure("the provider reported an error without a message")
  const code = "code" in fault && typeof fault.code === "string" ? fault.code : undefined
  return streamFailure(fault.message, { overflow: isOverflow(code, fault.message) })
}

/**
 * Decodes the chunks of one response.
 *
 * @param callBase how many tool calls the history has: numbers the calls a provider gave no id, unlike any before
 */
export const makeDecoder = (callBase: number): WireDecoder => {
  const calls = makeToolCalls(callBase)
  let phase: Phase = "open"
  let reasoning = ""
  let text = ""
  let usage: TokenUsage | undefined

  const speak = (delta: typeof Delta.Type, out: Array<ModelEvent>) => {
    // Providers that send both members send the same text in them.
    const thought = readText(delta.reasoning) || readText(delta.reasoning_content)
    if (thought !== "") {
      reasoning += thought
      out.push({ _tag: "RawReasoningDelta", delta: thought })
    }
    const said = readText(delta.content) || (delta.refusal ?? "")
    if (said !== "") {
      text += said
      out.push({ _tag: "TextDelta", delta: said })
    }
    for (const call of delta.tool_calls ?? []) calls.add(call)
  }

  const finish = (out: Array<ModelEvent>): ModelError | undefined => {
    const items = calls.items()
    if ("fault" in items) return malformed(items.fault)
    const done: Array<ResponseItem> = []
    if (reasoning !== "") {
      done.push({
        type: "reasoning",
        summary: [],
        content: [{ type: "reasoning_text", text: reasoning }],
        encrypted_content: null,
      })
    }
    if (text !== "") {
      done.push({ type: "message", role: "assistant", content: [{ type: "output_text", text }] })
    }
    for (const item of [...done, ...items.items]) out.push({ _tag: "ItemDone", item })
    out.push({ _tag: "Completed", ...(usage === undefined ? {} : { usage }) })
    phase = "done"
    return undefined
  }

  return {
    phase: () => phase,
    event: (data, out) => {
      if (phase === "done") return undefined
      // §6.6: mock servers end with a bare DONE.
      if (data === "[DONE]" || data === "DONE") return finish(out)
      const json = parseEvent(data)
      if ("fault" in json) return json.fault
      const chunk = decodeChunk(json.value)
      if (Result.isFailure(chunk)) return malformed(oneLine(chunk.failure))
      const { choices, error } = chunk.success
      if (error !== undefined && error !== null) return chunkFault(error)
      usage = readUsage(chunk.success.usage) ?? usage
      const choice = choices?.[0]
      if (choice === undefined) return undefined
      const delta = choice.delta ?? choice.message
      if (delta !== undefined && delta !== null) speak(delta, out)
      if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
        phase = "answered"
      }
      return undefined
    },
    end: (out) => {
      if (phase === "done") return undefined
      return phase === "answered" ? finish(out) : streamFailure("stream closed before completion")
    },
  }
}
