/**
 * The Responses wire (§6.5): the JSON body of `POST {base}/responses` and the meaning of its server-sent events.
 *
 * Pure: no HTTP, no clock. Tolerant of what a later provider adds (event types, item types, members) and of events that
 * cannot be read; only an unreadable part of the answer itself fails the stream, with a text that names it (L13).
 */
import type { ModelError, ModelRequest } from "@colloquy/core/ModelClient"
import { streamFailure } from "./internal/Failures.ts"
import { readEvent } from "./internal/ResponsesEvents.ts"
import { failed, makeWireDecoder, used, type WireDecoder } from "./internal/WireDecoder.ts"

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
    // Other families reject the member (§6.5).
    ...(request.verbosity !== undefined && request.model.startsWith("gpt-5")
      ? { text: { verbosity: request.verbosity } }
      : {}),
  }
}

/** Decodes the events of one response. */
export const makeDecoder = (): WireDecoder => {
  let failure: ModelError | undefined
  let hasItems = false
  const begun = new Set<string>()
  return makeWireDecoder({
    object: (value, out) => {
      const at = out.length
      const reading = readEvent(value, out)
      const first = out[at]
      if (first?._tag === "WebSearchBegin") begun.add(first.callId)
      // Listeners expect a beginning before every end.
      if (first?._tag === "WebSearchEnd" && !begun.has(first.callId)) {
        out.splice(at, 0, { _tag: "WebSearchBegin", callId: first.callId })
      }
      hasItems ||= out.at(-1)?._tag === "ItemDone"
      failure ??= reading.failure
      // A response that failed cannot be completed afterwards.
      return failure !== undefined && reading.completed !== undefined ? used : reading
    },
    // Proxies that translate the other wire end with its marker.
    marker: () => used,
    end: () => failed(failure ?? streamFailure("stream closed before response.completed")),
    isAnswered: () => failure !== undefined,
    hasAnswer: () => hasItems,
  })
}
