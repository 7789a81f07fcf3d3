/**
 * A transport of `McpClient` over Streamable HTTP: one POST per message, answered by JSON or by server-sent events.
 *
 * It is not the `http` of `McpClient`, because that answers a server's questions with an error and sends the revision
 * that it offered instead of the one agreed on. Bounded like the line transport. No text quotes a header, or more of
 * the URL than its origin.
 *
 *     open --initialize--> session --404 or limit exceeded--> over (every call fails with the reason)
 *                             +-----scope closes--> DELETE of the session (1 s)
 */
import { Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import { ServerSentEvents } from "@colloquy/protocol/ServerSentEvents"
import { type McpClientError } from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as UnsolicitedLimit from "./UnsolicitedLimit.ts"
import * as Handshake from "./Handshake.ts"
import * as ToolTransport from "./ToolTransport.ts"
import type { Answering } from "./ServerRequests.ts"

const { failed } = ToolTransport
const encoder = new TextEncoder()
/** Time limit of messages without a result: the end of a session, a cancellation, a response to the server. */
const tellWait = Duration.seconds(5)

/** POSTs at a time that carry responses to the server. */
const maxReplyPosts = 8
/** Responses to the server that are pending; beyond this number the server is stopped. */
const maxReplies = 1_024

type Response = JsonRpc.Success | JsonRpc.Failure

const mediaType = (response: HttpClientResponse.HttpClientResponse): string =>
  (response.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

const bodyText = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.mapError(() => failed("the response could not be read")),
    Stream.limitBytes(ToolTransport.maxMessageBytes, () =>
      Stream.fail(failed("the server sent a message that is too long")),
    ),
    Stream.mkUint8Array,
    Effect.map((bytes) => new TextDecoder().decode(bytes)),
  )

/** The data of every server-sent event. */
const events = (
  response: HttpClientResponse.HttpClientResponse,
): Stream.Stream<string, McpClientError> => {
  const found: Array<string> = []
  const parser = new ServerSentEvents(ToolTransport.maxMessageBytes, (data) => {
    if (data !== "") found.push(data)
  })
  return response.stream.pipe(
    Stream.mapError(() => failed("the response could not be read")),
    Stream.flatMap((chunk) => {
      const tooLong = !parser.feed(chunk)
      const read = Stream.fromIterable(found.splice(0))
      return tooLong
        ? Stream.concat(read, Stream.fail(failed("the server sent a message that is too long")))
        : read
    }),
  )
}

/** @param name as configured; part of the reason why it ended */
export const make = Effect.fnUntraced(function* (
  name: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  answering: Answering,
): Effect.fn.Return<ToolTransport.ToolTransport, never, HttpClient.HttpClient | Scope.Scope> {
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)
  const over = yield* Deferred.make<string>()
  const gauge = UnsolicitedLimit.make(yield* Clock.currentTimeMillis)
  let version: string = Handshake.offeredVersion
  const posts = yield* Semaphore.make(maxReplyPosts)
  let replies = 0
  let session: string | undefined

  const end = (how: string) =>
    Effect.asVoid(Deferred.succeed(over, `the tool server \`${name}\` ${how}`))
  const stop = (why: string) =>
    Effect.flatMap(Effect.andThen(end(`was stopped: ${why}`), Deferred.await(over)), (reason) =>
      Effect.fail(failed(reason)),
    )

  const sent = (): Record<string, string> => ({
    ...headers,
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  })

  const post = Effect.fnUntraced(function* (text: string) {
    const response = yield* client
      .execute(
        HttpClientRequest.post(url).pipe(
          HttpClientRequest.setHeaders(sent()),
          HttpClientRequest.bodyText(text, "application/json"),
        ),
      )
      .pipe(Effect.mapError(() => failed(`${url.origin} cannot be reached`)))
    if (session !== undefined && response.status === 404) {
      yield* end("ended the session")
    }
    if (response.status < 200 || response.status >= 300) {
      return yield* failed(`the server answered with HTTP status ${response.status}`)
    }
    session = response.headers["mcp-session-id"] ?? session
    return response
  })

  /** Told and not waited for longer than a moment: nothing depends on it. */
  const tell = (text: string): Effect.Effect<void> =>
    post(text).pipe(Effect.scoped, Effect.timeoutOption(tellWait), Effect.ignore, Effect.asVoid)

  const reply = Effect.fnUntraced(function* (request: JsonRpc.Request) {
    if (replies >= maxReplies) {
      return yield* stop(`it sent more than ${maxReplies} requests without taking the responses`)
    }
    replies++
    const sent = ToolTransport.safeAnswer(answering, request).pipe(
      Effect.flatMap((text) => posts.withPermit(tell(text))),
      Effect.ensuring(Effect.sync(() => replies--)),
    )
    // Ends with the request in whose response it arrived, because its caller has gone then; starts at once, to be
    // counted.
    yield* Effect.forkScoped(sent, { startImmediately: true })
  })

  /** The response, if the message is it; the response to a request of the server is sent in another fiber. */
  const receive = Effect.fnUntraced(function* (
    message: JsonRpc.Message,
    bytes: number,
    id: McpSchema.RequestId,
  ) {
    if (message._tag === "Success" || message._tag === "Failure") {
      if (message.id === id || (message._tag === "Failure" && message.id === null)) {
        yield* ToolTransport.logFault(message)
        return Option.some<Response>(message)
      }
    }
    const spent = bytes + UnsolicitedLimit.bytesPerMessage
    if (!gauge.spend(spent, yield* Clock.currentTimeMillis)) {
      return yield* stop(`it sent ${UnsolicitedLimit.limit}`)
    }
    if (message._tag === "Request") yield* reply(message)
    return Option.none<Response>()
  })

  const receiveAll = Effect.fnUntraced(function* (text: string, id: McpSchema.RequestId) {
    let found = Option.none<Response>()
    for (const [message, bytes] of ToolTransport.messagesOf(text, encoder.encode(text).length)) {
      const response = yield* receive(message, bytes, id)
      if (Option.isNone(found)) found = response
    }
    return found
  })

  const read = Effect.fnUntraced(function* (
    response: HttpClientResponse.HttpClientResponse,
    id: McpSchema.RequestId,
  ) {
    const texts =
      mediaType(response) === "text/event-stream"
        ? events(response)
        : Stream.fromEffect(bodyText(response))
    const found = yield* texts.pipe(
      Stream.mapEffect((text) => receiveAll(text, id)),
      Stream.filter(Option.isSome),
      Stream.runHead,
    )
    return yield* Effect.mapError(Effect.fromOption(Option.flatten(found)), () =>
      failed("the server's response held no answer"),
    )
  })

  const request = (message: McpSchema.JsonRpcRequest) =>
    Effect.suspend(() => post(ToolTransport.textOf(message))).pipe(
      Effect.flatMap((response) => read(response, message.id)),
      Effect.scoped,
      Effect.map((answer) => {
        if (message.method === Initialize._tag && answer._tag === "Success") {
          version = Handshake.negotiated(answer.result) ?? version
        }
        return ToolTransport.responseOf(message, answer)
      }),
      Effect.catchDefect(ToolTransport.failCall),
      Effect.raceFirst(
        Effect.flatMap(Deferred.await(over), (reason) => Effect.fail(failed(reason))),
      ),
    )

  const scope = yield* Effect.scope
  yield* Effect.addFinalizer(() =>
    session === undefined
      ? Effect.void
      : client
          .execute(HttpClientRequest.delete(url).pipe(HttpClientRequest.setHeaders(sent())))
          .pipe(
            Effect.scoped,
            Effect.timeoutOption(Duration.seconds(1)),
            // A server that does not respond has lost the session already.
            Effect.ignore,
          ),
  )
  return {
    transport: {
      "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
      protocol: McpProtocol.v2025_11_25,
      isCallable: () => true,
      notify: (message) => tell(ToolTransport.textOf(message)),
      request: (message) =>
        request(message).pipe(
          // In another fiber, because an interrupt must not wait for the network (L14).
          Effect.onInterrupt(() =>
            message.method === Initialize._tag
              ? Effect.void
              : Effect.forkIn(tell(ToolTransport.cancelled(message.id)), scope),
          ),
        ),
    },
    ended: Deferred.await(over),
    isOver: () => Deferred.isDoneUnsafe(over),
    end: (ending) => end(ending._tag === "Closed" ? "ended" : `was stopped: ${ending.why}`),
    endInput: Effect.void,
  }
})
