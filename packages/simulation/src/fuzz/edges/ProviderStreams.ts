/** Streams of model providers on both wires, from the bytes of the body to model events. */
import type { ModelEvent, ModelProvider, ModelRequest } from "@colloquy/core/ModelClient"
import * as HttpModel from "@colloquy/models/HttpModel"
import { offlineProvider } from "@colloquy/models/Providers"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { encode } from "../Bytes.ts"
import { type Edge, Violation } from "../Edge.ts"
import { mutateJoined } from "./Pure.ts"

const limits = { maxEventSize: 8 * 1024, maxResponseSize: 64 * 1024 }

/** The response to every request. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: ReadonlyArray<Uint8Array>
}

const clientOf = (reply: Reply): HttpClient.HttpClient =>
  HttpClient.make((request) =>
    Effect.sync(() => {
      const init = { status: reply.status, headers: reply.headers }
      const body = Stream.rechunk(Stream.fromIterable(reply.pieces), 1)
      // A web response for everything but the body: its stream would run on native promises.
      return Object.create(HttpClientResponse.fromWeb(request, new Response(null, init)), {
        stream: { get: () => body },
      }) as HttpClientResponse.HttpClientResponse
    }),
  )

const requestOf = (wire: ModelProvider["wire"]): ModelRequest => ({
  conversationId: ConversationId.make("019b2f00-0000-7000-8000-000000000000"),
  provider: {
    ...offlineProvider,
    wire,
    baseUrl: "http://provider.test/v1",
    requestMaxRetries: 0,
    streamMaxRetries: 0,
  },
  model: "m",
  instructions: "",
  input: [],
  tools: [],
})

/** The model client's result for a reply: the events, the error if the stream failed, and both as JSON. */
export const outcomeOf = (wire: ModelProvider["wire"], reply: Reply) =>
  Effect.gen(function* () {
    const events: Array<ModelEvent> = []
    const ended = yield* HttpModel.make(clientOf(reply), limits).pipe(
      Effect.flatMap(({ stream }) =>
        Stream.runForEach(stream(requestOf(wire)), (event) =>
          Effect.sync(() => events.push(event)),
        ),
      ),
      Effect.scoped,
      Effect.result,
    )
    const error = Result.isFailure(ended) ? ended.failure : undefined
    return { events, error, text: JSON.stringify([events, error]) }
  })

/** The bytes in pieces of one size, as a network may split them. */
const cuts = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )

const violation = (message: string) => Effect.fail(new Violation({ law: "L13", message }))

const prefix = "stream disconnected before completion: "

const run = (wire: ModelProvider["wire"]) => (input: Uint8Array) =>
  Effect.gen(function* () {
    const headers = { "content-type": "text/event-stream" }
    const whole = yield* outcomeOf(wire, { status: 200, headers, pieces: [input] })
    const size = 1 + (input.length % 7)
    const cut = yield* outcomeOf(wire, { status: 200, headers, pieces: cuts(input, size) })
    if (whole.text !== cut.text) return yield* violation("depends on how the bytes are split")
    const last = whole.events.at(-1)?._tag
    if (whole.error === undefined && last !== "Completed") {
      return yield* violation("ends without an error and without completion")
    }
    if (whole.error !== undefined && !whole.error.message.startsWith(prefix)) {
      return yield* violation(`fails with ${whole.error.message.slice(0, 80)}`)
    }
    return whole.error === undefined ? "accepted" : "rejected"
  })

const sse = (...data: ReadonlyArray<string>) =>
  encode(data.map((one) => `data: ${one}\n\n`).join(""))

const item = (of: object) => JSON.stringify({ type: "response.output_item.done", item: of })

const usage = { input_tokens: 3, input_tokens_details: { cached_tokens: 1 }, output_tokens: 4 }

const responsesCorpus = [
  sse(
    '{"type":"response.created","response":{"id":"r"}}',
    '{"type":"response.output_item.added","item":{"type":"web_search_call","id":"w"}}',
    '{"type":"response.reasoning_summary_part.added"}',
    '{"type":"response.reasoning_summary_text.delta","delta":"think"}',
    '{"type":"response.output_text.delta","delta":"h\u00e9llo"}',
    item({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "t" }],
      encrypted_content: "e",
    }),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }),
    JSON.stringify({ type: "response.completed", response: { usage } }),
  ),
  sse(
    item({ type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "c" }),
    item({
      type: "custom_tool_call",
      call_id: "c2",
      name: "apply_patch",
      input: "*** Begin Patch",
    }),
    item({
      type: "local_shell_call",
      id: "l",
      status: "completed",
      action: { type: "exec", command: ["ls"], timeout_ms: 5 },
    }),
    item({ type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }),
    JSON.stringify({ type: "response.completed", response: { usage: null } }),
  ),
  sse(
    '{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Please try again in 11.054s"}}}',
  ),
  sse(
    '{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}',
  ),
  sse('{"type":"error","code":"context_length_exceeded","message":"too long"}'),
  encode(
    ': ping\r\n\r\nevent: x\r\nid: 1\r\nretry: 5\r\ndata: {"type":\r\ndata: "response.completed","response":{}}\r\n\r\n',
  ),
]

const chunk = (delta: object, more: object = {}) =>
  JSON.stringify({ choices: [{ delta, ...more }], usage: null })

const chatCorpus = [
  sse(
    chunk({ role: "assistant", content: "hel" }),
    chunk({ content: [{ type: "text", text: "lo" }], reasoning_content: "think" }),
    chunk({}, { finish_reason: "stop" }),
    JSON.stringify({
      choices: [],
      usage: {
        prompt_tokens: 1,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    }),
    "[DONE]",
  ),
  sse(
    chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "shell", arguments: '{"com' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: 'mand":[]}' } }] }),
    chunk({ tool_calls: [{ id: "b", function: { name: "x", arguments: { a: 1 } } }] }),
    chunk({ tool_calls: [{ index: 2, custom: { name: "apply_patch", input: "*** Begin" } }] }),
    chunk({}, { finish_reason: "tool_calls" }),
    "[DONE]",
  ),
  sse(
    '{"error":{"message":"maximum context length is 8 tokens","code":"context_length_exceeded"}}',
  ),
  sse('{"error":"overloaded"}', "DONE"),
]

const edgeOf = (wire: "responses" | "chat", corpus: ReadonlyArray<Uint8Array>): Edge => ({
  name: `provider-${wire}`,
  summary: `The event stream of a provider on the ${wire} wire (models/HttpModel).`,
  corpus,
  mutate: mutateJoined("\n\n", corpus),
  open: Effect.succeed({ run: run(wire) }),
})

/** The event streams of both wires. */
export const providerStreams: ReadonlyArray<Edge> = [
  edgeOf("responses", responsesCorpus),
  edgeOf("chat", chatCorpus),
]
