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
import { Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import * as EnvelopeScan from "@colloquy/protocol/EnvelopeScan"
import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import type { McpClientError } from "effect/ai/McpClientError"
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
import * as LineSplitter from "./LineSplitter.ts"
import type { Answering, Notified } from "./ServerRequests.ts"
import {
  cancelled,
  type Ending,
  failCall,
  failed,
  logFault,
  maxMessageBytes,
  messagesOf,
  responseOf,
  safeAnswer,
  textOf,
  type ToolTransport,
} from "./ToolTransport.ts"

/**
 * Messages that wait until the server reads: beyond, callers wait, and a response to the server ends the connection.
 */
const maxOutgoing = 16_384
/** UTF-16 units of responses to the server that wait until it reads them. */
const maxReplyChars = 1024 * 1024
/** Responses to the server in progress; beyond, no further line is read. */
const maxAnswers = 8

const stopped = (why: string): Ending => ({ _tag: "Stopped", why })

/** True for JSON that may contain responses, but does not say to which calls. */
const isLost = (message: JsonRpc.Message): boolean =>
  message._tag === "Invalid" &&
  message.id === null &&
  message.error.code !== JsonRpc.ErrorCode.parseError

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

/** What a transport over byte streams needs. */
export interface LineTransportOptions {
  /** Bytes from the server; a failure ends the connection. */
  readonly incoming: Stream.Stream<Uint8Array, unknown>
  /** Bytes to the server; a failure is ignored, because the end of `incoming` reports it. */
  readonly outgoing: Sink.Sink<void, Uint8Array, never, unknown>
  /** Bytes that are sent before all lines. */
  readonly first?: Stream.Stream<Uint8Array>
  /** Responds to requests of the server. */
  readonly answering: Answering
  /** Reads notifications of the server. Default: they are ignored. */
  readonly notified?: Notified
  /** Limits what the server sends that belongs to no call. */
  readonly gauge: UnsolicitedLimit.UnsolicitedLimit
  /** Says in a sentence that names the server why the connection ended. */
  readonly describe: (ending: Ending) => Effect.Effect<string>
  /** Longest line in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number
}

type Response = JsonRpc.Success | JsonRpc.Failure

class LineTransport {
  private readonly pending = new Map<
    JsonRpc.RequestId,
    Deferred.Deferred<Response, McpClientError>
  >()
  private readonly split: (chunk: Uint8Array) => LineSplitter.Cut
  private readonly options: LineTransportOptions
  private readonly scope: Scope.Scope
  private readonly over: Deferred.Deferred<string>
  private readonly output: Queue.Queue<Outgoing, Cause.Done>
  private answers = 0
  private replyChars = 0
  private inputEnded = false
  private lossLogged = false

  constructor(
    options: LineTransportOptions,
    scope: Scope.Scope,
    over: Deferred.Deferred<string>,
    output: Queue.Queue<Outgoing, Cause.Done>,
  ) {
    this.options = options
    this.scope = scope
    this.over = over
    this.output = output
    this.split = LineSplitter.make(options.maxLineBytes ?? maxMessageBytes)
  }

  /** The connection; it works while `readAll` and `writeAll` run. */
  connection(): ToolTransport {
    return {
      transport: {
        "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
        protocol: McpProtocol.v2025_11_25,
        isCallable: () => true,
        notify: (message) => this.write(textOf(message)),
        request: (message) => this.request(message),
      },
      ended: Deferred.await(this.over),
      isOver: () => Deferred.isDoneUnsafe(this.over),
      end: (ending) => this.end(ending),
      endInput: Effect.suspend(() => {
        this.inputEnded = true
        return Effect.asVoid(Queue.end(this.output))
      }),
    }
  }

  /** Reads the server's output to its end, which ends the connection. */
  readAll(): Effect.Effect<void> {
    return this.options.incoming.pipe(
      Stream.mapError(() => "its output could not be read"),
      Stream.runForEach((chunk) => {
        const { discardedBytes, lines } = this.split(chunk)
        const read = Effect.forEach(lines, (line) => this.onLine(line), { discard: true })
        return discardedBytes === 0 ? read : Effect.andThen(this.spend(discardedBytes), read)
      }),
      Effect.matchCauseEffect({
        onFailure: (cause) => this.endBy(cause, "its output could not be read"),
        onSuccess: () => this.end({ _tag: "Closed" }),
      }),
    )
  }

  /** Writes queued messages until the queue ends. */
  writeAll(): Effect.Effect<void> {
    return Stream.fromQueue(this.output).pipe(
      Stream.map((message) => {
        this.replyChars -= message.replyChars
        return `${message.text}\n`
      }),
      Stream.encodeText,
      (lines) => Stream.concat(this.options.first ?? Stream.empty, lines),
      Stream.run(this.options.outgoing),
      // A failure to write shows where the response is awaited: the server is gone, and its output ends.
      Effect.ignore,
      Effect.catchDefect((defect) =>
        this.endBy(Cause.die(defect), "its input could not be written"),
      ),
    )
  }

  private end(ending: Ending): Effect.Effect<void> {
    return Effect.flatMap(this.options.describe(ending), (whole) =>
      Effect.asVoid(Deferred.succeed(this.over, whole)),
    )
  }

  /** Ends the connection, so that no caller waits for a server that is no longer read or written. */
  private endBy(cause: Cause.Cause<string>, otherwise: string): Effect.Effect<void> {
    const failure = cause.reasons.find(Cause.isFailReason)
    return failure === undefined
      ? Effect.andThen(
          Effect.logError("a tool server's connection failed", cause),
          this.end(stopped(otherwise)),
        )
      : this.end(stopped(failure.error))
  }

  private write(text: string): Effect.Effect<void> {
    return Effect.asVoid(Queue.offer(this.output, { text, replyChars: 0 }))
  }

  /** Queues a response. Never waits for the server to read, because it may write everything before it reads. */
  private reply(text: string): Effect.Effect<void> {
    if (this.inputEnded) return Effect.void
    const fits = this.replyChars <= maxReplyChars
    if (fits && Queue.offerUnsafe(this.output, { text, replyChars: text.length })) {
      this.replyChars += text.length
      return Effect.void
    }
    const limit = `${maxReplyChars / (1024 * 1024)} MiB or ${maxOutgoing} messages`
    return this.end(stopped(`it sends requests and does not read more than ${limit} of responses`))
  }

  /** Runs the answer to a request of the server; up to `maxAnswers` at a time do not delay reading. */
  private answer(text: Effect.Effect<string>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const answered = Effect.flatMap(text, (response) => this.reply(response))
      if (this.answers >= maxAnswers) return answered
      this.answers++
      return answered.pipe(
        Effect.ensuring(Effect.sync(() => this.answers--)),
        // Starts at once, because its end must be counted in any case.
        Effect.forkIn(this.scope, { startImmediately: true }),
        Effect.asVoid,
      )
    })
  }

  /** Fails once the server has sent too much that belongs to no call. */
  private spend(bytes: number): Effect.Effect<void, string> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      this.options.gauge.spend(bytes, now)
        ? Effect.void
        : Effect.fail(`it sent ${UnsolicitedLimit.limit}`),
    )
  }

  /** Logs only the first ignored message of each start, because a server can send any number of them. */
  private logLoss(message: JsonRpc.Message): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.lossLogged || message._tag !== "Invalid" || !isLost(message)) return Effect.void
      this.lossLogged = true
      return Effect.logWarning(
        `a message of a tool server was ignored, and later ones are without an entry: ${message.error.message}`,
      )
    })
  }

  private receive(message: JsonRpc.Message, bytes: number): Effect.Effect<void, string> {
    if (message._tag === "Success" || message._tag === "Failure") {
      const response = message.id === null ? undefined : this.pending.get(message.id)
      if (response !== undefined) {
        return Effect.andThen(logFault(message), Deferred.succeed(response, message))
      }
    }
    const spent = Effect.andThen(
      this.spend(bytes + UnsolicitedLimit.bytesPerMessage),
      this.logLoss(message),
    )
    if (message._tag === "Notification") this.options.notified?.(message)
    if (message._tag === "Request") {
      return Effect.andThen(spent, this.answer(safeAnswer(this.options.answering, message)))
    }
    // A message without an id may be anything, such as a log line.
    return message._tag === "Invalid" && message.answerable && message.id !== null
      ? Effect.andThen(
          spent,
          this.answer(Effect.succeed(JsonRpc.failureText(message.id, message.error))),
        )
      : spent
  }

  private onLine(line: LineSplitter.Line): Effect.Effect<void, string> {
    return Effect.suspend(() => {
      if (line._tag === "TooLong") return this.receive(JsonRpc.overlong(line), 0)
      const bytes = line.bytes + 1
      if (line.text.trim() === "") return this.spend(bytes + UnsolicitedLimit.bytesPerMessage)
      return Effect.forEach(messagesOf(line.text, bytes), (one) => this.receive(...one), {
        discard: true,
      })
    }).pipe(
      // A defect fails the call that the line responds to, and reading continues.
      Effect.catchDefect((defect) => {
        const id = respondsTo(line)
        const response = id === undefined ? undefined : this.pending.get(id)
        const fault = failed("its response could not be read")
        return Effect.andThen(
          Effect.logError("a message of a tool server could not be read", defect),
          response === undefined ? Effect.void : Deferred.fail(response, fault),
        )
      }),
    )
  }

  private request(
    message: McpSchema.JsonRpcRequest,
  ): Effect.Effect<McpSchema.JsonRpcResponse, McpClientError> {
    const broken = Effect.flatMap(Deferred.await(this.over), (reason) =>
      Effect.fail(failed(reason)),
    )
    // Never waits, because a server that reads nothing must not delay an interrupt (L14).
    const cancel = Effect.sync(() =>
      message.method === Initialize._tag
        ? undefined
        : Queue.offerUnsafe(this.output, { text: cancelled(message.id), replyChars: 0 }),
    )
    return Effect.suspend(() => {
      const response = Deferred.makeUnsafe<Response, McpClientError>()
      this.pending.set(message.id, response)
      return Effect.suspend(() => this.write(textOf(message))).pipe(
        Effect.andThen(Deferred.await(response)),
        Effect.raceFirst(broken),
        Effect.onInterrupt(() => cancel),
        Effect.ensuring(Effect.sync(() => this.pending.delete(message.id))),
        Effect.map((answered) => responseOf(message, answered)),
      )
    }).pipe(Effect.catchDefect(failCall))
  }
}

/** Opens a connection over two byte streams; its fibers end with the scope. */
export const make = Effect.fnUntraced(function* (
  options: LineTransportOptions,
): Effect.fn.Return<ToolTransport, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const over = yield* Deferred.make<string>()
  const output = yield* Queue.bounded<Outgoing, Cause.Done>(maxOutgoing)
  const lines = new LineTransport(options, scope, over, output)
  yield* Effect.forkIn(lines.readAll(), scope)
  yield* Effect.forkIn(lines.writeAll(), scope)
  return lines.connection()
})
