/**
 * The Chat Completions wire: the JSON body of `POST {base}/chat/completions` and the meaning of its
 * chunks.
 *
 * Pure: no HTTP, no clock. Text is delivered as it arrives, and every tool call of a response
 * counts, distinguished by `index`. The original held text back until the end and joined several
 * calls into one. See `packages/docs/wire/providers.md`.
 */
import type { ModelError, ModelEvent, ModelRequest, ToolSpec } from "@colloquy/core/ModelClient"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { chatMessages } from "./internal/ChatMessages.ts"
import { makeToolCalls, ToolCallDelta, type ToolCalls } from "./internal/ChatToolCalls.ts"
import { malformed, reportedFailure, streamFailure } from "./internal/failures/Failures.ts"
import { isObject } from "./internal/JsonObject.ts"
import { readFault } from "./internal/failures/ProviderFault.ts"
import { readUsage, type UsageNames } from "./internal/Usage.ts"
import { schemaName } from "./ResponsesWire.ts"
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

/** A tool as an element of `tools`; undefined for a tool of another kind than a function, which has no form on this wire. */
export const tool = (spec: ToolSpec): unknown => {
  if (spec.type !== "function") return undefined
  const { description, name, parameters } = spec
  return { type: "function", function: { name, description, strict: false, parameters } }
}

const toolsOf = (request: ModelRequest) => {
  const tools = request.tools.flatMap((spec) => tool(spec) ?? [])
  return tools.length === 0 ? {} : { tools }
}

/**
 * The request body. `tools` is absent when there are none, because providers reject an empty list.
 */
export const body = (request: ModelRequest): Readonly<Record<string, unknown>> => ({
  model: request.model,
  messages: chatMessages(request.instructions, request.input),
  stream: true,
  stream_options: { include_usage: true },
  ...toolsOf(request),
  ...(request.outputSchema === undefined
    ? {}
    : {
        response_format: {
          type: "json_schema",
          json_schema: { name: schemaName, strict: true, schema: request.outputSchema },
        },
      }),
})

const decodeToolCalls = Schema.decodeUnknownResult(Schema.Array(ToolCallDelta))

const usageNames: UsageNames = {
  input: "prompt_tokens",
  output: "completion_tokens",
  inputDetails: "prompt_tokens_details",
  outputDetails: "completion_tokens_details",
  allowsNull: true,
}

const isTextOrAbsent = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string"

/**
 * A text given as a string, as `{text}` or `{content}`, or as a list of such parts; empty for
 * anything else. Without a schema, because most chunks lack most of their members.
 */
const readText = (u: unknown): string => {
  if (typeof u === "string") return u
  if (Array.isArray(u)) return u.map(readText).join("")
  if (!isObject(u)) return ""
  const { content, text } = u
  return isTextOrAbsent(text) && isTextOrAbsent(content) ? (text ?? content ?? "") : ""
}

const closedEarly = streamFailure("stream closed before completion")

/**
 * The finish reasons of an answer that was cut off. The Responses wire reports these with
 * `response.incomplete`.
 */
const cutOff: Readonly<Record<string, readonly [code: string, sentence: string]>> = {
  length: ["max_output_tokens", "the model reached the limit of output tokens"],
  content_filter: ["content_filter", "the content filter of the provider stopped the answer"],
}

/** The failure for a finish reason; undefined when the answer is complete. */
const incomplete = (reason: string): ModelError | undefined => {
  const known = Object.hasOwn(cutOff, reason) ? cutOff[reason] : undefined
  if (known === undefined) return undefined
  const [code, sentence] = known
  const message = `incomplete response: ${sentence} (finish_reason \`${reason}\`)`
  return reportedFailure({ codes: [code], message })
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** The state of decoding one response. */
class ChatResponse implements Wire {
  private readonly calls: ToolCalls
  private answered = false
  private failure: ModelError | undefined
  private reasoning = ""
  private text = ""
  private usage: TokenUsage | undefined

  constructor(history: () => ReadonlyArray<string>) {
    this.calls = makeToolCalls(history)
  }

  readonly object: Wire["object"] = (chunk, out) => {
    const { choices, error } = chunk
    if (isPresent(error)) return failed(reportedFailure(readFault(error)))
    this.usage = readUsage(chunk["usage"], usageNames) ?? this.usage
    if (!Array.isArray(choices)) {
      return isPresent(chunk["usage"]) ? used : skipped("a chunk without an array `choices`")
    }
    const choice: unknown = choices[0]
    if (choice === undefined) return used
    if (!isObject(choice)) return skipped("a chunk whose `choices[0]` is not an object")
    const { finish_reason: reason } = choice
    if (typeof reason === "string" && reason !== "") {
      this.answered = true
      this.failure ??= incomplete(reason)
    }
    const delta = choice["delta"] ?? choice["message"]
    if (isObject(delta)) return this.readDelta(delta, out)
    return isPresent(delta) ? skipped("a chunk whose `choices[0].delta` is not an object") : used
  }

  readonly marker: Wire["marker"] = (out) => this.finish(out)

  readonly end: Wire["end"] = (out) => {
    if (this.answered) return this.finish(out)
    // Some providers close the stream after the answer without a marker. A text, or calls that can run, are an answer.
    const isWhole = this.calls.isEmpty() ? this.text !== "" : this.calls.areWhole()
    if (!isWhole) return failed(closedEarly)
    const reading = this.finish(out)
    const unmarked = "the stream ended without its final marker; its answer is complete and is used"
    const { note } = reading
    return { ...reading, note: note === undefined ? unmarked : `${unmarked}; ${note}` }
  }

  readonly isAnswered: Wire["isAnswered"] = () => this.answered

  readonly hasAnswer: Wire["hasAnswer"] = () => this.text !== "" || !this.calls.isEmpty()

  private readDelta(delta: Readonly<Record<string, unknown>>, out: Array<ModelEvent>): Reading {
    // Providers that send both members send the same text in both.
    const reasoning = readText(delta["reasoning"]) || readText(delta["reasoning_content"])
    if (reasoning !== "") {
      this.reasoning += reasoning
      out.push({ _tag: "RawReasoningDelta", delta: reasoning })
    }
    const text = readText(delta["content"]) || readText(delta["refusal"])
    if (text !== "") {
      this.text += text
      out.push({ _tag: "TextDelta", delta: text })
    }
    const given = delta["tool_calls"]
    if (given === undefined || given === null) return used
    const decoded = decodeToolCalls(Array.isArray(given) ? given.filter(isPresent) : given)
    if (Result.isFailure(decoded)) {
      return failed(malformed(`choices[0].delta.tool_calls: ${oneLine(decoded.failure)}`))
    }
    for (const call of decoded.success) this.calls.add(call)
    return used
  }

  /** Emits the items of the answer and `Completed`. */
  private finish(out: Array<ModelEvent>): Reading {
    if (this.failure !== undefined) return failed(this.failure)
    const calls = this.calls.items()
    if ("fault" in calls) return failed(malformed(calls.fault))
    for (const item of [...this.textItems(), ...calls.items]) out.push({ _tag: "ItemDone", item })
    const blanks = this.calls.blanks()
    const { usage } = this
    return {
      ...(blanks === 0
        ? {}
        : lost(`${blanks} tool call${blanks === 1 ? "" : "s"} without a name and arguments`)),
      completed: { _tag: "Completed", ...(usage === undefined ? {} : { usage }) },
      ...(this.answered ? {} : { unanswered: closedEarly }),
    }
  }

  private textItems(): ReadonlyArray<ResponseItem> {
    const items: Array<ResponseItem> = []
    if (this.reasoning !== "") {
      items.push({
        type: "reasoning",
        summary: [],
        content: [{ type: "reasoning_text", text: this.reasoning }],
        encrypted_content: null,
      })
    }
    if (this.text !== "") {
      const content = [{ type: "output_text", text: this.text }] as const
      items.push({ type: "message", role: "assistant", content })
    }
    return items
  }
}

/**
 * Decodes the chunks of one response. Members that are missing, null or of another type are
 * skipped. Only a tool call that cannot be read fails the stream, since its arguments would be
 * incomplete.
 *
 * @param history ids of the calls in the history, evaluated when a call has no id; it gets one that
 * differs from them
 */
export const makeDecoder = (history: () => ReadonlyArray<string> = () => []): WireDecoder =>
  makeWireDecoder(new ChatResponse(history))
