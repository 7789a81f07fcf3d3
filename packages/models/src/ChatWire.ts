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
import { malformed, reportedFailure, streamFailure } from "./internal/Failures.ts"
import { isObject } from "./internal/JsonObject.ts"
import { readFault } from "./internal/ProviderFault.ts"
import { Tokens, usageOf } from "./internal/Usage.ts"
import {
  failed,
  lost,
  makeWireDecoder,
  oneLine,
  type Reading,
  skipped,
  used,
  type Wire,
  type WireDecoder,
} from "./internal/WireDecoder.ts"

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

const decodeToolCalls = Schema.decodeUnknownResult(Schema.Array(ToolCallDelta))

const Usage = Schema.Struct({
  prompt_tokens: Tokens,
  prompt_tokens_details: nullable(Schema.Struct({ cached_tokens: nullable(Tokens) })),
  completion_tokens: Tokens,
  completion_tokens_details: nullable(Schema.Struct({ reasoning_tokens: nullable(Tokens) })),
  total_tokens: nullable(Tokens),
})
const decodeUsage = Schema.decodeUnknownOption(Usage)

/** Unreadable usage does not fail the answer. */
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

const early = streamFailure("stream closed before completion")

/** The finish reasons of an answer that is cut off; the Responses wire reports these with `response.incomplete`. */
const cutOff: Readonly<Record<string, readonly [code: string, sentence: string]>> = {
  length: ["max_output_tokens", "the model reached the limit of output tokens"],
  content_filter: ["content_filter", "the content filter of the provider stopped the answer"],
}

/** The failure of an answer that ends for that reason; undefined where the answer is complete. */
const incomplete = (reason: string): ModelError | undefined => {
  const known = Object.hasOwn(cutOff, reason) ? cutOff[reason] : undefined
  if (known === undefined) return undefined
  const [code, sentence] = known
  const message = `incomplete response: ${sentence} (finish_reason \`${reason}\`)`
  return reportedFailure({ codes: [code], message })
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/**
 * Decodes the chunks of one response. Members that are missing, null or of another type are skipped; only a tool call that
 * cannot be read fails the stream, since its arguments would be incomplete.
 *
 * @param history ids of the calls in the history; a call without an id gets one that differs from them
 */
export const makeDecoder = (history: ReadonlyArray<string> = []): WireDecoder => {
  const calls = makeToolCalls(history)
  let isAnswered = false
  let failure: ModelError | undefined
  let reasoning = ""
  let text = ""
  let usage: TokenUsage | undefined

  const readDelta = (delta: Readonly<Record<string, unknown>>, out: Array<ModelEvent>): Reading => {
    // Providers that send both members send the same text in them.
    const thought = readText(delta["reasoning"]) || readText(delta["reasoning_content"])
    if (thought !== "") {
      reasoning += thought
      out.push({ _tag: "RawReasoningDelta", delta: thought })
    }
    const said = readText(delta["content"]) || readText(delta["refusal"])
    if (said !== "") {
      text += said
      out.push({ _tag: "TextDelta", delta: said })
    }
    const given = delta["tool_calls"]
    if (given === undefined || given === null) return used
    const decoded = decodeToolCalls(Array.isArray(given) ? given.filter(isPresent) : given)
    if (Result.isFailure(decoded)) {
      return failed(malformed(`choices[0].delta.tool_calls: ${oneLine(decoded.failure)}`))
    }
    for (const call of decoded.success) calls.add(call)
    return used
  }

  const finish = (out: Array<ModelEvent>): Reading => {
    if (failure !== undefined) return failed(failure)
    const items = calls.items()
    if ("fault" in items) return failed(malformed(items.fault))
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
    const blanks = calls.blanks()
    return {
      ...(blanks === 0
        ? {}
        : lost(`${blanks} tool call${blanks === 1 ? "" : "s"} without a name and arguments`)),
      completed: { _tag: "Completed", ...(usage === undefined ? {} : { usage }) },
      ...(isAnswered ? {} : { unanswered: early }),
    }
  }

  const object: Wire["object"] = (chunk, out) => {
    const { choices, error } = chunk
    if (isPresent(error)) return failed(reportedFailure(readFault(error)))
    usage = readUsage(chunk["usage"]) ?? usage
    if (!Array.isArray(choices)) {
      return isPresent(chunk["usage"]) ? used : skipped("a chunk without an array `choices`")
    }
    const choice: unknown = choices[0]
    if (choice === undefined) return used
    if (!isObject(choice)) return skipped("a chunk whose `choices[0]` is not an object")
    const { finish_reason: reason } = choice
    if (typeof reason === "string" && reason !== "") {
      isAnswered = true
      failure ??= incomplete(reason)
    }
    const delta = choice["delta"] ?? choice["message"]
    if (isObject(delta)) return readDelta(delta, out)
    return isPresent(delta) ? skipped("a chunk whose `choices[0].delta` is not an object") : used
  }

  return makeWireDecoder({
    object,
    marker: finish,
    end: (out) => {
      if (isAnswered) return finish(out)
      // Some providers close the stream after the answer without a word: a text, or calls that can run, is an answer.
      const isWhole = calls.isEmpty() ? text !== "" : calls.areWhole()
      if (!isWhole) return failed(early)
      const reading = finish(out)
      const unmarked =
        "the stream ended without its final marker; its answer is complete and is used"
      const { note } = reading
      return { ...reading, note: note === undefined ? unmarked : `${unmarked}; ${note}` }
    },
    isAnswered: () => isAnswered,
    hasAnswer: () => text !== "" || !calls.isEmpty(),
  })
}
