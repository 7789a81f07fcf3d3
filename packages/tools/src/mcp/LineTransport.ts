/**
 * A transport of `McpClient` over two streams of bytes, one JSON-RPC message per line.
 *
 * Own code behind `McpClient`'s hook for it (the `Transport` service), because its `stdio` ends at the first line that
 * is no JSON, queues without bound, and answers a server's questions with an error. Here lines that are no message are
 * passed over, within a bound; a server that says too much, or one message too long, is given up (L13).
 */
import { Cancelled, Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import type * as McpClient from "effect/ai/McpClient"
import { McpClientError, TransportError } from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import type { FloodGauge } from "./FloodGauge.ts"
import * as Handshake from "./Handshake.ts"
import type { Answering } from "./ServerRequests.ts"

/** A line holds a whole image in base64. */
export const maxMessageBytes = 16 * 1024 * 1024
/** Messages the server has not read yet; beyond, callers wait. */
const maxOutgoing = 16
/** Answers under way; beyond, no further line is read. */
const maxAnswers = 8

export interface Lines {
  readonly transport: McpClient.Transport
  /** Waits until the connection is over; gives why. */
  readonly ended: Effect.Effect<string>
  readonly isOver: () => boolean
  /** Ends it for this reason, unless it has ended. */
  readonly end: (reason: string) => Effect.Effect<void>
  /** Says no more to the server. */
  readonly endInput: Effect.Effect<void>
}

export const failed = (description: string): McpClientError =>
  new McpClientError({ reason: new TransportError({ description }) })

export const cancelled = (id: McpSchema.RequestId): string =>
  JsonRpc.notificationText(Cancelled._tag, { requestId: id })

/** What `McpClient` gets as the response to one of its requests. */
export const responseOf = (
  request: McpSchema.JsonRpcRequest,
  message: JsonRpc.Success | JsonRpc.Failure,
): McpSchema.JsonRpcResponse => {
  const { id, method } = request
  if (message._tag === "Success") {
    return { jsonrpc: "2.0", id, result: Handshake.incoming(method, message.result) }
  }
  const { code, data, message: text } = message.error
  return {
    jsonrpc: "2.0",
    id,
    error: { code, message: text, ...(data === undefined ? {} : { data }) },
  }
}

/** The text of a request or notification of `McpClient`. */
export const textOf = (
  message: McpSchema.JsonRpcRequest | McpSchema.JsonRpcNotification,
): string => {
  const params = Handshake.outgoing(message.method, message.params)
  return "id" in message && message.id !== undefined
    ? JsonRpc.requestText(message.id, message.method, params)
    : JsonRpc.notificationText(message.method, params)
}

/** Gathers the pieces of lines; `undefined` once a line is too long. */
const makeSplitter = (maxChars: number) => {
  const decoder = new TextDecoder()
  let parts: Array<string> = []
  let held = 0
  return (chunk: Uint8Array): ReadonlyArray<string> | undefined => {
    const [first = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n")
    held += first.length
    parts.push(first)
    if (held > maxChars) return undefined
    if (rest.length === 0) return []
    const lines = [parts.join(""), ...rest]
    const last = lines.pop() ?? ""
    parts = [last]
    held = last.length
    return lines
  }
}

interface Options {
  readonly incoming: Stream.Stream<Uint8Array, unknown>
  readonly outgoing: Sink.Sink<void, Uint8Array, never, unknown>
  /** What goes out before all lines. */
  readonly first?: Stream.Stream<Uint8Array>
  readonly answering: Answering
  readonly gauge: FloodGauge
  /** Adds to why the connection ended what is known of it by then. */
  readonly describe: (reason: string) => Effect.Effect<string>
  /** Longest line in characters. Default 16 Mi. */
  readonly maxLineChars?: number
}

export const make = Effect.fnUntraced(function* (
  options: Options,
): Effect.fn.Return<Lines, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const over = yield* Deferred.make<string>()
  const output = yield* Queue.bounded<string, Cause.Done>(maxOutgoing)
  const pending = new Map<JsonRpc.RequestId, Deferred.Deferred<JsonRpc.Success | JsonRpc.Failure>>()
  const split = makeSplitter(options.maxLineChars ?? maxMessageBytes)
  let answers = 0

  const end = (reason: string) =>
    Effect.flatMap(options.describe(reason), (whole) =>
      Effect.asVoid(Deferred.succeed(over, whole)),
    )
  const broken = Effect.flatMap(Deferred.await(over), (reason) => Effect.fail(failed(reason)))
  const write = (text: string) => Effect.asVoid(Queue.offer(output, text))

  const answer = (request: JsonRpc.Request): Effect.Effect<void> => {
    const answered = Effect.flatMap(options.answering(request), write)
    if (answers >= maxAnswers) return answered
    answers++
    return answered.pipe(
      Effect.ensuring(Effect.sync(() => answers--)),
      // Starts at once: its end must be counted, whatever becomes of it.
      Effect.forkIn(scope, { startImmediately: true }),
      Effect.asVoid,
    )
  }

  const unasked = (line: string): Effect.Effect<void, string> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      options.gauge.spend(line.length, now)
        ? Effect.void
        : Effect.fail("the server sent too much that nobody asked for"),
    )

  const receive = (line: string): Effect.Effect<void, string> =>
    Effect.suspend(() => {
      const message = JsonRpc.parse(line)
      if (message._tag === "Success" || message._tag === "Failure") {
        const response = message.id === null ? undefined : pending.get(message.id)
        if (response !== undefined) return Effect.asVoid(Deferred.succeed(response, message))
      }
      const spent = unasked(line)
      return message._tag === "Request" ? Effect.andThen(spent, answer(message)) : spent
    })

  const readAll = options.incoming.pipe(
    Stream.mapError(() => "its output could not be read"),
    Stream.runForEach((chunk) => {
      const lines = split(chunk)
      return lines === undefined
        ? Effect.fail("the server sent a message that is too long")
        : Effect.forEach(
            lines.filter((line) => line.trim() !== ""),
            receive,
            { discard: true },
          )
    }),
    Effect.matchEffect({ onFailure: end, onSuccess: () => end("the server closed its output") }),
  )
  const writeAll = Stream.fromQueue(output).pipe(
    Stream.map((text) => `${text}\n`),
    Stream.encodeText,
    (lines) => Stream.concat(options.first ?? Stream.empty, lines),
    Stream.run(options.outgoing),
    // What cannot be written shows where its answer is waited for: the server is gone, and its output ends.
    Effect.ignore,
  )
  yield* Effect.forkIn(readAll, scope)
  yield* Effect.forkIn(writeAll, scope)

  const request = (message: McpSchema.JsonRpcRequest) =>
    Effect.gen(function* () {
      const response = yield* Deferred.make<JsonRpc.Success | JsonRpc.Failure>()
      pending.set(message.id, response)
      const answered = yield* write(textOf(message)).pipe(
        Effect.andThen(Deferred.await(response)),
        Effect.raceFirst(broken),
        // Never waits: a server that reads nothing must not hold up an interrupt (L14).
        Effect.onInterrupt(() =>
          Effect.sync(() =>
            message.method === Initialize._tag
              ? undefined
              : Queue.offerUnsafe(output, cancelled(message.id)),
          ),
        ),
        Effect.ensuring(Effect.sync(() => pending.delete(message.id))),
      )
      return responseOf(message, answered)
    })

  return {
    transport: {
      "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
      protocol: McpProtocol.v2025_11_25,
      isCallable: () => true,
      notify: (message) => write(textOf(message)),
      request: (message) => request(message),
    },
    ended: Deferred.await(over),
    isOver: () => Deferred.isDoneUnsafe(over),
    end,
    endInput: Effect.asVoid(Queue.end(output)),
  }
})
