/** `ProviderHttp` over an `HttpClient` of Effect, for platforms other than Node.js and for scripted providers. */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import {
  type Exchange,
  type ProviderPost,
  type ProviderHttp,
  HttpFailure,
} from "../ProviderHttp.ts"

type Bytes = Arr.NonEmptyReadonlyArray<Uint8Array>
type BodyPull = Pull.Pull<Bytes, HttpClientError.HttpClientError>
type Body = Stream.Stream<Uint8Array, HttpClientError.HttpClientError>

const failureOf = (cause: unknown): HttpFailure => new HttpFailure({ cause })

/** Opens a body: registers what closes it in `scope`. */
const pullOf = (body: Body, scope: Scope.Scope): Effect.Effect<BodyPull> =>
  Channel.toPullScoped(body.channel, scope)

/** An exchange whose waits have a fiber each, so that `close` ends them whatever the client does. */
class ClientExchange implements Exchange {
  private readonly client: HttpClient.HttpClient.With<HttpClientError.HttpClientError, Scope.Scope>
  private readonly request: HttpClientRequest.HttpClientRequest
  private readonly context: Context.Context<never>
  private readonly scope = Scope.makeUnsafe()
  private body: Effect.Effect<BodyPull> | undefined
  private waiting: Fiber.Fiber<unknown, unknown> | undefined
  private isClosed = false

  constructor(
    client: ClientExchange["client"],
    request: HttpClientRequest.HttpClientRequest,
    context: Context.Context<never>,
  ) {
    this.client = client
    this.request = request
    this.context = context
  }

  readonly head: Exchange["head"] = Effect.suspend(() =>
    this.wait(
      this.client.execute(this.request).pipe(
        // Providers have no use for trace ids of this process.
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        Effect.provideService(Scope.Scope, this.scope),
        Effect.mapError(failureOf),
        Effect.map((response) => {
          this.body = Effect.map(pullOf(response.stream, this.scope), (pull) => {
            this.body = Effect.succeed(pull)
            return pull
          })
          return { status: response.status, headers: response.headers }
        }),
      ),
    ),
  )

  readonly read: Exchange["read"] = Effect.suspend(() =>
    this.body === undefined
      ? Effect.die(new Error("a body was read before the head of its response"))
      : this.wait(readFrom(Effect.flatten(this.body))),
  )

  readonly isReady = () => false

  readonly isReceived = () => false

  readonly close: Exchange["close"] = Effect.suspend(() => {
    if (this.isClosed) return Effect.void
    this.isClosed = true
    const { waiting } = this
    const closed = Scope.close(this.scope, Exit.void)
    return waiting === undefined ? closed : Effect.andThen(Fiber.interrupt(waiting), closed)
  })

  private wait<A>(effect: Effect.Effect<A, HttpFailure>): Effect.Effect<A, HttpFailure> {
    return Effect.callback((resume) => {
      if (this.isClosed) return resume(Effect.fail(failureOf("closed")))
      const fiber = Effect.runForkWith(this.context)(effect)
      this.waiting = fiber
      fiber.addObserver((exit) => {
        this.waiting = undefined
        resume(this.isClosed && Exit.hasInterrupts(exit) ? Effect.fail(failureOf("closed")) : exit)
      })
      return Fiber.interrupt(fiber)
    })
  }
}

/** The `read` of a body that is pulled. */
export const readFrom = (pull: BodyPull): Exchange["read"] =>
  Pull.matchEffect(pull, {
    onSuccess: (chunks) => Effect.succeed<Bytes | undefined>(chunks),
    onFailure: (cause) =>
      Cause.hasFails(cause)
        ? Effect.fail(failureOf(Cause.squash(cause)))
        : // Interruption and defects are passed on.
          Effect.failCause(cause as Cause.Cause<never>),
    onDone: () => Effect.undefined,
  })

const requestOf = ({ body, headers, url }: ProviderPost): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.post(url.href).pipe(
    HttpClientRequest.setBody(HttpBody.uint8Array(body, headers["content-type"])),
    HttpClientRequest.setHeaders(headers),
  )

/** Sends requests with `client`. */
export const make = (client: HttpClient.HttpClient): ProviderHttp => {
  // The connection belongs to the exchange's scope, which also closes it between the head and the first read.
  const scoped = HttpClient.withScope(client)
  return {
    post: (request) =>
      Effect.map(
        Effect.context(),
        (context) => new ClientExchange(scoped, requestOf(request), context),
      ),
  }
}
