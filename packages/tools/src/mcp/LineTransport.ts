/**
 * A transport of `McpClient` over two streams of bytes, one JSON-RPC message per line.
 *
 * Own code behind `McpClient`'s hook for it (the `Transport` service), because its `stdio` ends at the first line that
 * is no JSON, queues without bound, and answers a server's questions with an error. Here lines that are no message are
 * passed over, within a bound; a server that says too much is given up. A message that cannot be read, or is too long,
 * fails the call that it responds to, at once and with an entry in the log, and no other call (L13).
 */
import { Cancelled, Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import * as EnvelopeScan from "@colloquy/protocol/EnvelopeScan"
import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import type * as McpClient from "effect/ai/McpClient"
import { McpClientError, TransportError } from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import type { FloodGauge } from "./FloodGauge.ts"
import * as Handshake from "./Handshake.ts"
import * as LineSplitter from "./LineSplitter.ts"
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

/** What is wrong with a response goes to the log: the call that it fails shows the server's words alone. */
export const logFault = (message: JsonRpc.Message): Effect.Effect<void> =>
  message._tag === "Failure" && message.fault !== undefined
    ? Effect.logWarning(`unusable response of a tool server: ${message.fault}`)
    : Effect.void

/** A defect while a call is sent or its response is read fails that call. */
export const failCall = (defect: unknown): Effect.Effect<never, McpClientError> =>
  Effect.andThen(
    Effect.logError("a call of a tool server failed", defect),
    Effect.fail(failed("an internal error")),
  )

/** Gives a response to every request of a server, whatever answers it (L1). */
export const safeAnswer = (answering: Answering, request: JsonRpc.Request): Effect.Effect<string> =>
  Effect.suspend(() => answering(request)).pipe(
    Effect.catchDefect((defect) => {
      const code = JsonRpc.ErrorCode.internalError
      const error = new JsonRpc.JsonRpcError({ code, message: "Internal error" })
      return Effect.as(
        Effect.logError("a request of a tool server failed", defect),
        JsonRpc.failureText(request.id, error),
      )
    }),
  )

/** The request that a line responds to, read without parsing the line. */
const respondsTo = (line: LineSplitter.Line): JsonRpc.RequestId | undefined => {
  const envelope = line._tag === "Text" ? EnvelopeScan.scan(line.text) : line.envelope
  return envelope?.kind === "response" ? JsonRpc.idOf(envelope) : undefined
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
  /** Longest line. Default 16 MiB. */
  readonly maxLineBytes?: number
}

export const make = Effect.fnUntraced(function* (
  options: Options,
): Effect.fn.Return<Lines, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const over = yield* Deferred.make<string>()
  const output = yield* Queue.bounded<string, Cause.Done>(maxOutgoing)
  const pending = new Map<
    JsonRpc.RequestId,
    Deferred.Deferred<JsonRpc.Success | JsonRpc.Failure, McpClientError>
  >()
  const split = LineSplitter.make(options.maxLineBytes ?? maxMessageBytes)
  let answers = 0

  const end = (reason: string) =>
    Effect.flatMap(options.describe(reason), (whole) =>
      Effect.asVoid(Deferred.succeed(over, whole)),
    )
  const broken = Effect.flatMap(Deferred.await(over), (reason) => Effect.fail(failed(reason)))
  const write = (text: string) => Effect.asVoid(Queue.offer(output, text))
  /** Ends it, so that nobody waits for a server that is no longer read or written. */
  const endBy = (cause: Cause.Cause<string>, otherwise: string) => {
    const failure = cause.reasons.find(Cause.isFailReason)
    return failure === undefined
      ? Effect.andThen(Effect.logError("a tool server's connection failed", cause), end(otherwise))
      : end(failure.error)
  }

  const answer = (text: Effect.Effect<string>): Effect.Effect<void> => {
    const answered = Effect.flatMap(text, write)
    if (answers >= maxAnswers) return answered
    answers++
    return answered.pipe(
      Effect.ensuring(Effect.sync(() => answers--)),
      // Starts at once: its end must be counted, whatever becomes of it.
      Effect.forkIn(scope, { startImmediately: true }),
      Effect.asVoid,
    )
  }

  const unasked = (bytes: number): Effect.Effect<void, string> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      options.gauge.spend(bytes, now)
        ? Effect.void
        : Effect.fail("the server sent too much that nobody asked for"),
    )

  const receive = (message: JsonRpc.Message, bytes: number): Effect.Effect<void, string> => {
    if (message._tag === "Success" || message._tag === "Failure") {
      const response = message.id === null ? undefined : pending.get(message.id)
      if (response !== undefined) {
        return Effect.andThen(logFault(message), Deferred.succeed(response, message))
      }
    }
    const spent = unasked(bytes)
    if (message._tag === "Request") {
      return Effect.andThen(spent, answer(safeAnswer(options.answering, message)))
    }
    // Without an id it may be anything, a log line for one.
    return message._tag === "Invalid" && message.answerable && message.id !== null
      ? Effect.andThen(
          spent,
          answer(Effect.succeed(JsonRpc.failureText(message.id, message.error))),
        )
      : spent
  }

  const onLine = (line: LineSplitter.Line): Effect.Effect<void, string> =>
    Effect.suspend(() => {
      if (line._tag === "TooLong") return receive(JsonRpc.overlong(line), 0)
      return line.text.trim() === ""
        ? Effect.void
        : receive(JsonRpc.parse(line.text), line.text.length)
    }).pipe(
      // A defect costs the call that the line responds to, and the reading goes on.
      Effect.catchDefect((defect) => {
        const id = respondsTo(line)
        const response = id === undefined ? undefined : pending.get(id)
        const fault = failed("its response could not be read")
        return Effect.andThen(
          Effect.logError("a message of a tool server could not be read", defect),
          response === undefined ? Effect.void : Deferred.fail(response, fault),
        )
      }),
    )

  const readAll = options.incoming.pipe(
    Stream.mapError(() => "its output could not be read"),
    Stream.runForEach((chunk) => {
      const { discardedBytes, lines } = split(chunk)
      const read = Effect.forEach(lines, onLine, { discard: true })
      return discardedBytes === 0 ? read : Effect.andThen(unasked(discardedBytes), read)
    }),
    Effect.matchCauseEffect({
      onFailure: (cause) => endBy(cause, "its output could not be read"),
      onSuccess: () => end("the server closed its output"),
    }),
  )
  const writeAll = Stream.fromQueue(output).pipe(
    Stream.map((text) => `${text}\n`),
    Stream.encodeText,
    (lines) => Stream.concat(options.first ?? Stream.empty, lines),
    Stream.run(options.outgoing),
    // What cannot be written shows where its answer is waited for: the server is gone, and its output ends.
    Effect.ignore,
    Effect.catchDefect((defect) => endBy(Cause.die(defect), "its input could not be written")),
  )
  yield* Effect.forkIn(readAll, scope)
  yield* Effect.forkIn(writeAll, scope)

  const request = (message: McpSchema.JsonRpcRequest) =>
    Effect.gen(function* () {
      const response = yield* Deferred.make<JsonRpc.Success | JsonRpc.Failure, McpClientError>()
      pending.set(message.id, response)
      const answered = yield* Effect.suspend(() => write(textOf(message))).pipe(
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
    }).pipe(Effect.catchDefect(failCall))

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
