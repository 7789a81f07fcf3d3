/**
 * A transport of `McpClient` over two byte streams, one JSON-RPC message per line.
 *
 * It is not the `stdio` of `McpClient`, because that ends at the first line that is no JSON, queues without bound, and
 * answers a server's questions with an error. Here lines that are no messages are ignored, within a limit; a server
 * that sends too much is stopped. A message that cannot be read, or is too long, fails the call that it responds to, at
 * once and with an entry in the log, and no other call (L13).
 *
 *     open --input ends--> closed  \
 *       +---limit or fault-> stopped --> over: every pending and later call fails with the reason
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
import * as UnsolicitedLimit from "./UnsolicitedLimit.ts"
import * as Handshake from "./Handshake.ts"
import * as LineSplitter from "./LineSplitter.ts"
import type { Answering } from "./ServerRequests.ts"

/** Longest message; a whole image in base64 fits. */
export const maxMessageBytes = 16 * 1024 * 1024
/**
 * Messages that wait until the server reads: beyond, callers wait, and a response to the server ends the connection.
 */
const maxOutgoing = 16_384
/** UTF-16 units of responses to the server that wait until it reads them. */
const maxReplyChars = 1024 * 1024
/** Responses to the server in progress; beyond, no further line is read. */
const maxAnswers = 8

/** Why a connection is over: the server closed it, or it was stopped because of a fault. */
export type Ending =
  | { readonly _tag: "Closed" }
  | { readonly _tag: "Stopped"; readonly why: string }

const stopped = (why: string): Ending => ({ _tag: "Stopped", why })

/** Each message in a text, with its share of the bytes. JSON-RPC batches are accepted in every revision of MCP. */
export const messagesOf = (
  text: string,
  bytes: number,
): ReadonlyArray<readonly [message: JsonRpc.Message, bytes: number]> => {
  const frame = JsonRpc.parseFrame(text)
  if (frame._tag !== "Batch") return [[frame, bytes]]
  const { messages } = frame
  if (messages.length === 0) return [[JsonRpc.noBatches(), bytes]]
  return messages.map((message) => [message, bytes / messages.length])
}

/** True for JSON that may contain responses, but does not say to which calls. */
const isLost = (message: JsonRpc.Message): boolean =>
  message._tag === "Invalid" &&
  message.id === null &&
  message.error.code !== JsonRpc.ErrorCode.parseError

/** A connection to a tool server, and how it ends. */
export interface ToolTransport {
  /** Transport of `McpClient` over the connection. */
  readonly transport: McpClient.Transport
  /** Resolves with the reason when the connection is over. */
  readonly ended: Effect.Effect<string>
  /** True as soon as `ended` can resolve. */
  readonly isOver: () => boolean
  /** Ends the connection with this reason, unless it has ended. */
  readonly end: (ending: Ending) => Effect.Effect<void>
  /** Closes the direction to the server. */
  readonly endInput: Effect.Effect<void>
}

/** Failure of a call because of the transport. */
export const failed = (description: string): McpClientError =>
  new McpClientError({ reason: new TransportError({ description }) })

/** The notification that cancels a call. */
export const cancelled = (id: McpSchema.RequestId): string =>
  JsonRpc.notificationText(Cancelled._tag, { requestId: id })

/** What `McpClient` receives as the response to one of its requests. */
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

/** Logs what is wrong with a response, because the call that it fails shows only the server's words. */
export const logFault = (message: JsonRpc.Message): Effect.Effect<void> =>
  message._tag === "Failure" && message.fault !== undefined
    ? Effect.logWarning(`unusable response of a tool server: ${message.fault}`)
    : Effect.void

/** Fails a call because of a defect while it was sent or its response was read. */
export const failCall = (defect: unknown): Effect.Effect<never, McpClientError> =>
  Effect.andThen(
    Effect.logError("a call of a tool server failed", defect),
    Effect.fail(failed("an internal error")),
  )

/** Returns a response to every request of a server, also when answering it fails (L1). */
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

/** The request that a line responds to, read without parsing the whole line. */
const respondsTo = (line: LineSplitter.Line): JsonRpc.RequestId | undefined => {
  const envelope = line._tag === "Text" ? EnvelopeScan.scan(line.text) : line.envelope
  return envelope?.kind === "response" ? JsonRpc.idOf(envelope) : undefined
}

interface Outgoing {
  readonly text: string
  /** Its share of `maxReplyChars`. */
  readonly replyChars: number
}

interface Options {
  readonly incoming: Stream.Stream<Uint8Array, unknown>
  readonly outgoing: Sink.Sink<void, Uint8Array, never, unknown>
  /** Bytes that are sent before all lines. */
  readonly first?: Stream.Stream<Uint8Array>
  readonly answering: Answering
  readonly gauge: UnsolicitedLimit.UnsolicitedLimit
  /** Says in a sentence that names the server why the connection ended. */
  readonly describe: (ending: Ending) => Effect.Effect<string>
  /** Longest line in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number
}

export const make = Effect.fnUntraced(function* (
  options: Options,
): Effect.fn.Return<ToolTransport, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const over = yield* Deferred.make<string>()
  const output = yield* Queue.bounded<Outgoing, Cause.Done>(maxOutgoing)
  const pending = new Map<
    JsonRpc.RequestId,
    Deferred.Deferred<JsonRpc.Success | JsonRpc.Failure, McpClientError>
  >()
  const split = LineSplitter.make(options.maxLineBytes ?? maxMessageBytes)
  let answers = 0
  let replyChars = 0
  let inputEnded = false
  let lossLogged = false

  const end = (ending: Ending) =>
    Effect.flatMap(options.describe(ending), (whole) =>
      Effect.asVoid(Deferred.succeed(over, whole)),
    )
  const broken = Effect.flatMap(Deferred.await(over), (reason) => Effect.fail(failed(reason)))
  const write = (text: string) => Effect.asVoid(Queue.offer(output, { text, replyChars: 0 }))
  /** Ends it, so that nobody waits for a server that is no longer read or written. */
  const endBy = (cause: Cause.Cause<string>, otherwise: string) => {
    const failure = cause.reasons.find(Cause.isFailReason)
    return failure === undefined
      ? Effect.andThen(
          Effect.logError("a tool server's connection failed", cause),
          end(stopped(otherwise)),
        )
      : end(stopped(failure.error))
  }

  /** Never waits for the server to read, because a server may write all it has before it reads. */
  const reply = (text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (inputEnded) return Effect.void
      const fits = replyChars <= maxReplyChars
      if (fits && Queue.offerUnsafe(output, { text, replyChars: text.length })) {
        replyChars += text.length
        return Effect.void
      }
      const limit = `${maxReplyChars / (1024 * 1024)} MiB or ${maxOutgoing} messages`
      return end(stopped(`it sends requests and does not read more than ${limit} of responses`))
    })

  const answer = (text: Effect.Effect<string>): Effect.Effect<void> => {
    const answered = Effect.flatMap(text, reply)
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
        : Effect.fail(`it sent ${UnsolicitedLimit.limit}`),
    )

  /** Once for each start, because a server can send any number of these. */
  const logLoss = (message: JsonRpc.Message): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (lossLogged || message._tag !== "Invalid" || !isLost(message)) return Effect.void
      lossLogged = true
      return Effect.logWarning(
        `a message of a tool server was ignored, and later ones are without an entry: ${message.error.message}`,
      )
    })

  const receive = (message: JsonRpc.Message, bytes: number): Effect.Effect<void, string> => {
    if (message._tag === "Success" || message._tag === "Failure") {
      const response = message.id === null ? undefined : pending.get(message.id)
      if (response !== undefined) {
        return Effect.andThen(logFault(message), Deferred.succeed(response, message))
      }
    }
    const spent = Effect.andThen(
      unasked(bytes + UnsolicitedLimit.bytesPerMessage),
      logLoss(message),
    )
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
      const bytes = line.bytes + 1
      if (line.text.trim() === "") return unasked(bytes + UnsolicitedLimit.bytesPerMessage)
      return Effect.forEach(messagesOf(line.text, bytes), (one) => receive(...one), {
        discard: true,
      })
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
      onSuccess: () => end({ _tag: "Closed" }),
    }),
  )
  const writeAll = Stream.fromQueue(output).pipe(
    Stream.map((message) => {
      replyChars -= message.replyChars
      return `${message.text}\n`
    }),
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
              : Queue.offerUnsafe(output, { text: cancelled(message.id), replyChars: 0 }),
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
    endInput: Effect.suspend(() => {
      inputEnded = true
      return Effect.asVoid(Queue.end(output))
    }),
  }
})
