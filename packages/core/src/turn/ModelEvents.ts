/** Converts what a model streams to events of the conversation. Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ReasoningItem, ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { messageEvents } from "../log/MessageEvents.ts"
import type { ModelEvent, RateLimits } from "../ModelClient.ts"

/** The raw text as one, because nothing separates the deltas of its parts. */
const rawEvents = ({ content = [] }: ReasoningItem): ReadonlyArray<EventMsg> =>
  content.length === 0
    ? []
    : [{ type: "agent_reasoning_raw_content", text: content.map(({ text }) => text).join("") }]

/** The record of a finished item, then the events for listeners. Tool calls emit their events themselves. */
export const itemEvents = (
  item: ResponseItem,
  settings: ConversationSettings,
): ReadonlyArray<EventMsg> => {
  const record: EventMsg = { type: "raw_response_item", item }
  switch (item.type) {
    case "message":
      return messageEvents(item)
    case "reasoning":
      return [
        record,
        ...item.summary.map(({ text }): EventMsg => ({ type: "agent_reasoning", text })),
        ...(settings.showRawReasoning ? rawEvents(item) : []),
      ]
    default:
      return [record]
  }
}

/** The events of a delta. */
export const deltaEvents = (
  event: Exclude<
    ModelEvent,
    { readonly _tag: "ItemDone" | "Completed" | "WebSearchBegin" | "WebSearchEnd" }
  >,
  settings: ConversationSettings,
): ReadonlyArray<EventMsg> => {
  switch (event._tag) {
    case "TextDelta":
      return [{ type: "agent_message_delta", delta: event.delta }]
    case "ReasoningDelta":
      return [{ type: "agent_reasoning_delta", delta: event.delta }]
    case "RawReasoningDelta":
      return settings.showRawReasoning
        ? [{ type: "agent_reasoning_raw_content_delta", delta: event.delta }]
        : []
    case "ReasoningSectionBreak":
      return [{ type: "agent_reasoning_section_break" }]
  }
}

const zero: TokenUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
}

/** A log or a model client can name any integer; a sum beyond the range of an event is limited to it. */
const sum = (a: number, b: number): number =>
  Math.max(Math.min(a + b, Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER)

/** The event with the token counts. `info` is null while no request of the conversation has reported usage. */
export const tokenCount = (
  total: TokenUsage | undefined,
  last: TokenUsage | undefined,
  contextWindow: number | null,
  rateLimits: RateLimits | null = null,
): EventMsg => {
  if (last === undefined && total === undefined) {
    return { type: "token_count", info: null, rate_limits: rateLimits }
  }
  const [a, b] = [total ?? zero, last ?? zero]
  return {
    type: "token_count",
    info: {
      total_token_usage: {
        input_tokens: sum(a.input_tokens, b.input_tokens),
        cached_input_tokens: sum(a.cached_input_tokens, b.cached_input_tokens),
        output_tokens: sum(a.output_tokens, b.output_tokens),
        reasoning_output_tokens: sum(a.reasoning_output_tokens, b.reasoning_output_tokens),
        total_tokens: sum(a.total_tokens, b.total_tokens),
      },
      last_token_usage: b,
      model_context_window: contextWindow,
    },
    rate_limits: rateLimits,
  }
}

/** A delay as the original program prints it: `201ms`, `1.5s`. */
const delayText = (ms: number): string => {
  const whole = Math.round(ms)
  return whole < 1000 ? `${whole}ms` : `${whole / 1000}s`
}

/** The event for a request that was too long for the model: text that it streamed before is not continued. */
export const overflowed = (message: string): EventMsg => ({
  type: "stream_error",
  message: `stream error: ${message}; summarizing the history first…`,
})

/** The event for a retry of the request. */
export const streamError = (
  message: string,
  attempt: number,
  max: number,
  delayMs: number,
): EventMsg => ({
  type: "stream_error",
  message: `stream error: ${message}; retrying ${attempt}/${max} in ${delayText(delayMs)}…`,
})
