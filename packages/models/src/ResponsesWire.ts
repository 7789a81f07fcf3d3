/**
 * The Responses wire (§6.5): the JSON body of `POST {base}/responses` and the meaning of its server-sent events.
 *
 * Pure: no HTTP, no clock. Tolerant of what a later provider adds (event types, item types, members), exact about
 * what it knows: an event whose known members have other types fails the stream with a text that names them (L13).
 */
import type { ModelError, ModelEvent, ModelRequest } from "@colloquy/core/ModelClient"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { malformed, maxRetryAfterMs, streamFailure } from "./internal/Failures.ts"
import { isOverflow } from "./internal/Overflow.ts"
import { readItem } from "./internal/ResponsesItem.ts"
import { Tokens, usageOf } from "./internal/Usage.ts"
import { oneLine, parseEvent, type Phase, type WireDecoder } from "./internal/WireDecoder.ts"

// Families that know `reasoning` (§6.11); a model nobody knows gets it when an effort was asked for.
const reasons = /^(o\d|gpt-5|codex-)/

/** The request body. Items go as they are: ids were never kept. */
export const body = (request: ModelRequest): Readonly<Record<string, unknown>> => {
  const reasoning =
    reasons.test(request.model) || request.effort !== undefined
      ? {
          ...(request.effort === undefined ? {} : { effort: request.effort }),
          ...(request.summary === "none" ? {} : { summary: request.summary ?? "auto" }),
        }
      : null
  return {
    model: request.model,
    instructions: request.instructions,
    input: request.input,
    tools: request.tools.map((tool) =>
      tool.type === "function" ? { ...tool, strict: false } : tool,
    ),
    tool_choice: "auto",
    // As the original: calls run one after the other, so several at once would gain nothing.
    parallel_tool_calls: false,
    reasoning,
    store: false,
    stream: true,
    include: reasoning === null ? [] : ["reasoning.encrypted_content"],
    prompt_cache_key: request.conversationId,
    // Other families reject the member (§6.5).
    ...(request.verbosity !== undefined && request.model.startsWith("gpt-5")
      ? { text: { verbosity: request.verbosity } }
      : {}),
  }
}

type Reading =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<ModelEvent> }
  /** Raised when the stream ends (§6.5). */
  | { readonly _tag: "Failure"; readonly error: ModelError }

type Reader = (event: unknown) => Result.Result<Reading, Schema.SchemaError>

const on = <T, E>(schema: Schema.Codec<T, E>, read: (event: T) => Reading): Reader => {
  const decode = Schema.decodeUnknownResult(schema)
  return (event) => Result.map(decode(event), read)
}
const events = (...list: ReadonlyArray<ModelEvent>): Reading => ({ _tag: "Events", events: list })

const Delta = Schema.Struct({ delta: Schema.String })
const textDelta = on(Delta, ({ delta }) => events({ _tag: "TextDelta", delta }))

const Usage = Schema.Struct({
  input_tokens: Tokens,
  input_tokens_details: Schema.optional(
    Schema.NullOr(Schema.Struct({ cached_tokens: Schema.optional(Tokens) })),
  ),
  output_tokens: Tokens,
  output_tokens_details: Schema.optional(
    Schema.NullOr(Schema.Struct({ reasoning_tokens: Schema.optional(Tokens) })),
  ),
  total_tokens: Schema.optional(Tokens),
})
const decodeUsage = Schema.decodeUnknownOption(Usage)

/** Usage nobody can read is no reason to lose the answer. */
const usage = (u: unknown): { readonly usage?: TokenUsage } =>
  Option.match(decodeUsage(u), {
    onNone: () => ({}),
    onSome: (found) => ({
      usage: usageOf({
        input: found.input_tokens,
        cached: found.input_tokens_details?.cached_tokens,
        output: found.output_tokens,
        reasoning: found.output_tokens_details?.reasoning_tokens,
        total: found.total_tokens,
      }),
    }),
  })

const Fault = Schema.Struct({
  code: Schema.optional(Schema.NullOr(Schema.String)),
  message: Schema.optional(Schema.NullOr(Schema.String)),
})

// The same request would fail the same way. The last two are reasons of an incomplete response.
const final = new Set([
  "insufficient_quota",
  "invalid_prompt",
  "usage_limit_reached",
  "usage_not_included",
  "max_output_tokens",
  "content_filter",
])

/** Milliseconds of "Please try again in 11.054s" or "28ms" (§6.4). */
const namedDelayMs = (message: string): number | undefined => {
  const found = /try again in (\d+(?:\.\d+)?)\s*(ms|s)/i.exec(message)
  return found === null
    ? undefined
    : Number(found[1]) * (found[2]?.toLowerCase() === "s" ? 1000 : 1)
}

const failure = (fault: typeof Fault.Type | null | undefined): Reading => {
  const message = fault?.message ?? "response.failed event received"
  const delay = fault?.code === "rate_limit_exceeded" ? namedDelayMs(message) : undefined
  return {
    _tag: "Failure",
    error: streamFailure(message, {
      // A server that names more than a minute is not waited for, on this layer as on that of HTTP.
      ...(isOverflow(fault?.code, message)
        ? { overflow: true }
        : { retryable: !final.has(fault?.code ?? "") && (delay ?? 0) <= maxRetryAfterMs }),
      ...(delay === undefined ? {} : { retryAfterMs: delay }),
    }),
  }
}

const Item = Schema.Struct({
  item: Schema.Struct({ type: Schema.String, id: Schema.optional(Schema.Unknown) }),
})

/** Event type to its meaning; every other type is ignored. */
const readers = new Map<string, Reader>([
  ["response.output_text.delta", textDelta],
  // A refusal is the text the model answers with; the finished item has it as text too.
  ["response.refusal.delta", textDelta],
  [
    "response.reasoning_summary_text.delta",
    on(Delta, ({ delta }) => events({ _tag: "ReasoningDelta", delta })),
  ],
  [
    "response.reasoning_text.delta",
    on(Delta, ({ delta }) => events({ _tag: "RawReasoningDelta", delta })),
  ],
  [
    "response.reasoning_summary_part.added",
    on(Schema.Unknown, () => events({ _tag: "ReasoningSectionBreak" })),
  ],
  [
    "response.output_item.added",
    on(Item, ({ item }) =>
      item.type === "web_search_call"
        ? events({ _tag: "WebSearchBegin", callId: typeof item.id === "string" ? item.id : "" })
        : events(),
    ),
  ],
  [
    "response.output_item.done",
    (event) =>
      Result.map(readItem(event), (item) =>
        item === undefined ? events() : events({ _tag: "ItemDone", item }),
      ),
  ],
  [
    "response.completed",
    on(
      Schema.Struct({ response: Schema.Struct({ usage: Schema.optional(Schema.Unknown) }) }),
      (e) => events({ _tag: "Completed", ...usage(e.response.usage) }),
    ),
  ],
  [
    "response.failed",
    on(
      Schema.Struct({
        response: Schema.Struct({ error: Schema.optional(Schema.NullOr(Fault)) }),
      }),
      ({ response }) => failure(response.error),
    ),
  ],
  [
    "response.incomplete",
    on(
      Schema.Struct({
        response: Schema.Struct({
          incomplete_details: Schema.optional(
            Schema.NullOr(Schema.Struct({ reason: Schema.optional(Schema.String) })),
          ),
        }),
      }),
      ({ response }) =>
        failure({
          code: response.incomplete_details?.reason,
          message: `incomplete response: ${response.incomplete_details?.reason ?? "no reason given"}`,
        }),
    ),
  ],
  ["error", on(Fault, failure)],
])

const decodeType = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.String }))

/** Decodes the events of one response. */
export const makeDecoder = (): WireDecoder => {
  let phase: Phase = "open"
  let remembered: ModelError | undefined
  return {
    phase: () => phase,
    event: (data, out) => {
      // Proxies that translate the other wire end with its marker.
      if (phase === "done" || data === "[DONE]") return undefined
      const json = parseEvent(data)
      if ("fault" in json) return json.fault
      const type = Option.getOrUndefined(decodeType(json.value))?.type
      if (type === undefined) return malformed("no `type`")
      const reading = readers.get(type)?.(json.value)
      if (reading === undefined) return undefined
      if (Result.isFailure(reading)) return malformed(`${type}: ${oneLine(reading.failure)}`)
      if (reading.success._tag === "Failure") {
        remembered ??= reading.success.error
        phase = "answered"
        return undefined
      }
      for (const event of reading.success.events) {
        // What failed cannot be completed afterwards.
        if (event._tag === "Completed" && remembered !== undefined) continue
        if (event._tag === "Completed") phase = "done"
        out.push(event)
      }
      return undefined
    },
    end: () =>
      phase === "done"
        ? undefined
        : (remembered ?? streamFailure("stream closed before response.completed")),
  }
}
