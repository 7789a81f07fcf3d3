/**
 * The Responses wire: the JSON body of `POST {base}/responses` and the meaning of its server-sent
 * events. See `packages/docs/wire/providers.md`.
 *
 * Pure: no HTTP, no clock. Tolerates additions of later providers (event types, item types,
 * members) and events that cannot be read. Unreadable events fail the stream only when neither a
 * text nor a call was read; the error then names the first of them (L13).
 */
import type { ModelError, ModelEvent, ModelRequest, ToolSpec } from "@colloquy/core/ModelClient"
import type { MessageItem, ResponseItem } from "@colloquy/protocol/ResponseItem"
import { streamFailure } from "./internal/failures/Failures.ts"
import { makeCallIds } from "./internal/CallIds.ts"
import { isDelta, readEvent } from "./internal/ResponsesEvents.ts"
import { failed, makeWireDecoder, used, type WireDecoder } from "./internal/WireDecoder.ts"

/**
 * Only models of this family accept a verbosity, with or without a provider prefix in their name.
 */
const isVerbosityFamily = /(^|\/)gpt-5[^/]*$/i

/** A tool as an element of `tools`. */
export const tool = (spec: ToolSpec): unknown =>
  spec.type === "function" ? { ...spec, strict: false } : spec

/** The name of the schema of an answer, which a provider requires; the one that the original sends. */
export const schemaName = "codex_output_schema"

/** What the text of the answer has to be. */
const textOf = ({ model, outputSchema, verbosity }: ModelRequest) => {
  const text = {
    ...(verbosity !== undefined && isVerbosityFamily.test(model) ? { verbosity } : {}),
    ...(outputSchema === undefined
      ? {}
      : {
          format: { type: "json_schema", strict: true, schema: outputSchema, name: schemaName },
        }),
  }
  return Object.keys(text).length === 0 ? {} : { text }
}

/** The request body. Items are sent unchanged, because their ids were never stored. */
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
    tools: request.tools.map(tool),
    tool_choice: "auto",
    // As in the original: calls run one after the other, so parallel calls would gain nothing.
    parallel_tool_calls: false,
    reasoning,
    store: false,
    stream: true,
    include: reasoning === null ? [] : ["reasoning.encrypted_content"],
    prompt_cache_key: request.conversationId,
    ...textOf(request),
  }
}

/**
 * The answer of one response: gives each call an id, and makes a message from text deltas that no
 * finished message repeats.
 */
class Answer {
  private readonly callId: ReturnType<typeof makeCallIds>
  private usable = false
  private hasGap = false
  /** Text of deltas that no finished message has repeated yet. */
  private pending = ""

  constructor(history: () => ReadonlyArray<string>) {
    this.callId = makeCallIds(history)
  }

  /** True when a text or a call was read. */
  get isUsable(): boolean {
    return this.usable
  }

  /** Notes that a delta may have been lost, so that the deltas alone are not an answer. */
  addGap(): void {
    this.hasGap = true
  }

  /** The event, with the call id or text that this response adds to it. */
  complete(event: ModelEvent): ModelEvent {
    if (event._tag === "TextDelta") this.pending += event.delta
    return event._tag === "ItemDone" ? { ...event, item: this.itemOf(event.item) } : event
  }

  /** Appends the missing message at the end of the response. */
  end(out: Array<ModelEvent>): void {
    if (this.pending === "" || this.hasGap) return
    const item = this.withText({ type: "message", role: "assistant", content: [] })
    out.push({ _tag: "ItemDone", item })
  }

  private itemOf(item: ResponseItem): ResponseItem {
    switch (item.type) {
      case "message":
        return this.withText(item)
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
        this.usable = true
        return { ...item, call_id: this.callId(item.call_id) }
      default:
        return item
    }
  }

  private withText(item: MessageItem): MessageItem {
    const text = this.hasGap ? "" : this.pending
    this.pending = ""
    const hasText = item.content.some((part) => part.type !== "input_image" && part.text !== "")
    if (hasText || text !== "") this.usable = true
    return hasText || text === "" ? item : { ...item, content: [{ type: "output_text", text }] }
  }
}

/**
 * Decodes the events of one response.
 *
 * @param history ids of the calls in the history, evaluated when a call has no id; it gets one that
 * differs from them
 */
export const makeDecoder = (history: () => ReadonlyArray<string> = () => []): WireDecoder => {
  let failure: ModelError | undefined
  const answer = new Answer(history)
  const startedSearches = new Set<string>()
  return makeWireDecoder({
    object: (value, out, hasGap) => {
      const at = out.length
      const reading = readEvent(value, out)
      if (hasGap || (reading.lost !== undefined && isDelta(value["type"]))) answer.addGap()
      for (let i = at; i < out.length; i++) {
        const event = out[i]
        if (event !== undefined) out[i] = answer.complete(event)
      }
      const first = out[at]
      if (first?._tag === "WebSearchBegin") startedSearches.add(first.callId)
      // Listeners expect a begin event before every end event.
      if (first?._tag === "WebSearchEnd" && !startedSearches.has(first.callId)) {
        out.splice(at, 0, { _tag: "WebSearchBegin", callId: first.callId })
      }
      failure ??= reading.failure
      if (reading.completed === undefined) return reading
      // A response that failed cannot be completed afterwards.
      if (failure !== undefined) return used
      answer.end(out)
      return reading
    },
    // Proxies that translate from the other wire end the stream with its marker.
    marker: () => used,
    end: () => failed(failure ?? streamFailure("stream closed before response.completed")),
    isAnswered: () => failure !== undefined,
    hasAnswer: () => answer.isUsable,
  })
}
