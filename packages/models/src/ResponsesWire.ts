/**
 * The Responses wire (§6.5): the JSON body of `POST {base}/responses` and the meaning of its server-sent events.
 *
 * Pure: no HTTP, no clock. Tolerant of what a later provider adds (event types, item types, members) and of events that
 * cannot be read; they fail the stream only when no text and no call was read, with a text that names the first (L13).
 */
import type { ModelError, ModelEvent, ModelRequest } from "@colloquy/core/ModelClient"
import type { MessageItem, ResponseItem } from "@colloquy/protocol/ResponseItem"
import { streamFailure } from "./internal/Failures.ts"
import { makeCallIds } from "./internal/GivenCallIds.ts"
import { isDelta, readEvent } from "./internal/ResponsesEvents.ts"
import { failed, makeWireDecoder, used, type WireDecoder } from "./internal/WireDecoder.ts"

/** Only this family takes a verbosity, with or without a provider before its name. */
const isVerbosityFamily = /(^|\/)gpt-5[^/]*$/i

/** The request body. Items go as they are: ids were never kept. */
export const body = (request: ModelRequest): Readonly<Record<string, unknown>> => {
  const reasoning =
    request.effort === undefined && request.summary === undefined
      ? null
      : {
          ...(request.effort === undefined ? {} : { effort: request.effort }),
          ...(request.summary === "none" ? {} : { summary: request.summary ?? "auto" }),
        }
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
    ...(request.verbosity !== undefined && isVerbosityFamily.test(request.model)
      ? { text: { verbosity: request.verbosity } }
      : {}),
  }
}

/**
 * The answer of one response: gives each call an id, and makes a message of text deltas that no finished message repeats.
 */
const makeAnswer = (history: ReadonlyArray<string>) => {
  const callId = makeCallIds(history)
  let isUsable = false
  let hasGap = false
  let pending = ""
  const withText = (item: MessageItem): MessageItem => {
    const text = hasGap ? "" : pending
    pending = ""
    const hasText = item.content.some((part) => part.type !== "input_image" && part.text !== "")
    if (hasText || text !== "") isUsable = true
    return hasText || text === "" ? item : { ...item, content: [{ type: "output_text", text }] }
  }
  const itemOf = (item: ResponseItem): ResponseItem => {
    switch (item.type) {
      case "message":
        return withText(item)
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
        isUsable = true
        return { ...item, call_id: callId(item.call_id) }
      default:
        return item
    }
  }
  return {
    isUsable: () => isUsable,
    /** A delta may have been lost: the deltas alone are no answer. */
    gap: (): void => {
      hasGap = true
    },
    /** The event with what this response adds to it. */
    read: (event: ModelEvent): ModelEvent => {
      if (event._tag === "TextDelta") pending += event.delta
      return event._tag === "ItemDone" ? { ...event, item: itemOf(event.item) } : event
    },
    /** Appends the message that is missing at the end of the response. */
    end: (out: Array<ModelEvent>): void => {
      if (pending === "" || hasGap) return
      const item = withText({ type: "message", role: "assistant", content: [] })
      out.push({ _tag: "ItemDone", item })
    },
  }
}

/**
 * Decodes the events of one response.
 *
 * @param history ids of the calls in the history; a call without an id gets one that differs from them
 */
export const makeDecoder = (history: ReadonlyArray<string> = []): WireDecoder => {
  let failure: ModelError | undefined
  const answer = makeAnswer(history)
  const begun = new Set<string>()
  return makeWireDecoder({
    object: (value, out, hasGap) => {
      const at = out.length
      const reading = readEvent(value, out)
      if (hasGap || (reading.lost !== undefined && isDelta(value["type"]))) answer.gap()
      for (let i = at; i < out.length; i++) {
        const event = out[i]
        if (event !== undefined) out[i] = answer.read(event)
      }
      const first = out[at]
      if (first?._tag === "WebSearchBegin") begun.add(first.callId)
      // Listeners expect a beginning before every end.
      if (first?._tag === "WebSearchEnd" && !begun.has(first.callId)) {
        out.splice(at, 0, { _tag: "WebSearchBegin", callId: first.callId })
      }
      failure ??= reading.failure
      if (reading.completed === undefined) return reading
      // A response that failed cannot be completed afterwards.
      if (failure !== undefined) return used
      answer.end(out)
      return reading
    },
    // Proxies that translate the other wire end with its marker.
    marker: () => used,
    end: () => failed(failure ?? streamFailure("stream closed before response.completed")),
    isAnswered: () => failure !== undefined,
    hasAnswer: answer.isUsable,
  })
}
