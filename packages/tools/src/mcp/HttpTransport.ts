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
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as UnsolicitedLimit from "./UnsolicitedLimit.ts"
import * as Handshake from "./Handshake.ts"
import * as ToolTransport from "./ToolTransport.ts"
import type { Receiving } from "./ServerRequests.ts"

const { failed } = ToolTransport
const encoder = new TextEncoder()
/** Time limit of messages without a result: the end of a session, a cancellation, a response to the server. */
const sendTimeout = Duration.seconds(5)

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

/** What a transport over HTTP needs. */
interface HttpTransportOptions {
  /** Name of the server as configured; part of the reason why the connection ended. */
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly receiving: Receiving
  readonly client: HttpClient.HttpClient.With<HttpClientError, Scope.Scope>
  readonly scope: Scope.Scope
  readonly over: Deferred.Deferred<string>
  readonly gauge: UnsolicitedLimit.UnsolicitedLimit
  readonly posts: Semaphore.Semaphore
}

class HttpTransport {
  private readonly options: HttpTransportOptions
  private version: string = Handshake.offeredVersion
  private replies = 0
  private session: string | undefined

  constructor(options: HttpTransportOptions) {
    this.options = options
  }

  /** The connection to the server. */
  connection(): ToolTransport.ToolTransport {
    const { over, scope } = this.options
    return {
      transport: {
        "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
        protocol: McpProtocol.v2025_11_25,
        isCallable: () => true,
        notify: (message) => this.send(ToolTransport.textOf(message)),
        request: (message) =>
          this.request(message).pipe(
            // In another fiber, because an interrupt must not wait for the network (L14).
            Effect.onInterrupt(() =>
              message.method === Initialize._tag
                ? Effect.void
                : Effect.forkIn(this.send(ToolTransport.cancelled(message.id)), scope),
            ),
          ),
      },
      ended: Deferred.await(over),
      isOver: () => Deferred.isDoneUnsafe(over),
      end: (ending) => this.end(ending._tag === "Closed" ? "ended" : `was stopped: ${ending.why}`),
      endInput: Effect.void,
    }
  }

  /** Ends the session at the server, if there is one. */
  deleteSession(): Effect.Effect<void> {
    const { client, url } = this.options
    return Effect.suspend(() =>
      this.session === undefined
        ? Effect.void
        : client
            .execute(
              HttpClientRequest.delete(url).pipe(HttpClientRequest.setHeaders(this.headers())),
            )
            .pipe(
              Effect.scoped,
              Effect.timeout(Duration.seconds(1)),
              Effect.asVoid,
              // A server that does not respond has lost the session already.
              Effect.catch((error) => this.notSent("the end of its session", error)),
            ),
    )
  }

  private end(how: string): Effect.Effect<void> {
    const { name, over } = this.options
    return Effect.asVoid(Deferred.succeed(over, `the tool server \`${name}\` ${how}`))
  }

  private stop(why: string): Effect.Effect<never, McpClientError> {
    return Effect.flatMap(
      Effect.andThen(this.end(`was stopped: ${why}`), Deferred.await(this.options.over)),
      (reason) => Effect.fail(failed(reason)),
    )
  }

  private headers(): Record<string, string> {
    return {
      ...this.options.headers,
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": this.version,
      ...(this.session === undefined ? {} : { "mcp-session-id": this.session }),
    }
  }

  private post(text: string) {
    const { client, url } = this.options
    return Effect.suspend(() =>
      client.execute(
        HttpClientRequest.post(url).pipe(
          HttpClientRequest.setHeaders(this.headers()),
          HttpClientRequest.bodyText(text, "application/json"),
        ),
      ),
    ).pipe(
      Effect.mapError(() => failed(`${url.origin} cannot be reached`)),
      Effect.flatMap((response) => this.accept(response)),
    )
  }

  private accept(
    response: HttpClientResponse.HttpClientResponse,
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, McpClientError> {
    const ended =
      this.session !== undefined && response.status === 404
        ? this.end("ended the session")
        : Effect.void
    if (response.status < 200 || response.status >= 300) {
      const fault = failed(`the server answered with HTTP status ${response.status}`)
      return Effect.andThen(ended, Effect.fail(fault))
    }
    this.session = response.headers["mcp-session-id"] ?? this.session
    return Effect.succeed(response)
  }

  /** Sends a message without waiting for more than a moment, because nothing depends on it. */
  private send(text: string): Effect.Effect<void> {
    return this.post(text).pipe(
      Effect.scoped,
      Effect.timeout(sendTimeout),
      Effect.asVoid,
      Effect.catch((error) => this.notSent("a message", error)),
    )
  }

  private notSent(what: string, { message }: { readonly message: string }): Effect.Effect<void> {
    return Effect.logDebug(
      `the tool server \`${this.options.name}\` did not take ${what}: ${message}`,
    )
  }

  private reply(request: JsonRpc.Request) {
    return Effect.suspend(() => {
      if (this.replies >= maxReplies) {
        return this.stop(`it sent more than ${maxReplies} requests without taking the responses`)
      }
      this.replies++
      const { posts, receiving } = this.options
      const sent = ToolTransport.safeAnswer(receiving.answering, request).pipe(
        Effect.flatMap((text) => posts.withPermit(this.send(text))),
        Effect.ensuring(Effect.sync(() => this.replies--)),
      )
      // Ends with the request in whose response it arrived, because its caller has gone then; starts at once, to be
      // counted.
      return Effect.asVoid(Effect.forkScoped(sent, { startImmediately: true }))
    })
  }

  /** The response, if the message is it. The response to a request of the server is sent in another fiber. */
  private receive(message: JsonRpc.Message, bytes: number, id: McpSchema.RequestId) {
    if (message._tag === "Success" || message._tag === "Failure") {
      if (message.id === id || (message._tag === "Failure" && message.id === null)) {
        return Effect.as(ToolTransport.logFault(message), Option.some<Response>(message))
      }
    }
    if (message._tag === "Notification") this.options.receiving.notified(message)
    const spent = bytes + UnsolicitedLimit.bytesPerMessage
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      this.options.gauge.spend(spent, now)
        ? Effect.as(
            message._tag === "Request" ? this.reply(message) : Effect.void,
            Option.none<Response>(),
          )
        : this.stop(`it sent ${UnsolicitedLimit.limit}`),
    )
  }

  /** Reads all messages of a text, and returns the response among them. */
  private receiveAll(text: string, id: McpSchema.RequestId) {
    const messages = ToolTransport.messagesOf(text, encoder.encode(text).length)
    return Effect.map(
      Effect.forEach(messages, ([message, bytes]) => this.receive(message, bytes, id)),
      (found) => found.find(Option.isSome) ?? Option.none<Response>(),
    )
  }

  private read(response: HttpClientResponse.HttpClientResponse, id: McpSchema.RequestId) {
    const texts =
      mediaType(response) === "text/event-stream"
        ? events(response)
        : Stream.fromEffect(bodyText(response))
    return texts.pipe(
      Stream.mapEffect((text) => this.receiveAll(text, id)),
      Stream.filter(Option.isSome),
      Stream.runHead,
      Effect.flatMap((found) =>
        Effect.mapError(Effect.fromOption(Option.flatten(found)), () =>
          failed("the server's response held no answer"),
        ),
      ),
    )
  }

  private request(message: McpSchema.JsonRpcRequest) {
    return Effect.suspend(() => this.post(ToolTransport.textOf(message))).pipe(
      Effect.flatMap((response) => this.read(response, message.id)),
      Effect.scoped,
      Effect.map((answer) => {
        if (message.method === Initialize._tag && answer._tag === "Success") {
          this.version = Handshake.negotiated(answer.result) ?? this.version
        }
        return ToolTransport.responseOf(message, answer)
      }),
      Effect.catchDefect(ToolTransport.failCall),
      Effect.raceFirst(
        Effect.flatMap(Deferred.await(this.options.over), (reason) => Effect.fail(failed(reason))),
      ),
    )
  }
}

/**
 * Connects to the server when the first message is sent; the session ends with the scope.
 *
 * @param name as configured; part of the reason why the connection ended
 */
export const make = Effect.fnUntraced(function* (
  name: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  receiving: Receiving,
): Effect.fn.Return<ToolTransport.ToolTransport, never, HttpClient.HttpClient | Scope.Scope> {
  const http = new HttpTransport({
    name,
    url,
    headers,
    receiving,
    client: HttpClient.withScope(yield* HttpClient.HttpClient),
    scope: yield* Effect.scope,
    over: yield* Deferred.make<string>(),
    gauge: UnsolicitedLimit.make(yield* Clock.currentTimeMillis),
    posts: yield* Semaphore.make(maxReplyPosts),
  })
  yield* Effect.addFinalizer(() => http.deleteSession())
  return http.connection()
})
