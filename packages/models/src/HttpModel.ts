/**
 * The model client over HTTP: one `POST` per request, whose server-sent events become model events,
 * on either wire.
 *
 * Owns headers, API key, the retries of the HTTP request and both timeouts. Never repeats a stream
 * that has started; the turn loop does that. All waiting uses `Clock` (L12). Interruption closes
 * the connection.
 *
 * Events are delivered in arrays, one per network chunk, so that an event does not cost a fiber
 * step.
 */
import { backoff } from "@colloquy/core/turn/Backoff"
import {
  ModelClient,
  ModelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type RateLimits,
} from "@colloquy/core/ModelClient"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ChatWire from "./ChatWire.ts"
import {
  type Credentials,
  type FindKey,
  readCredentials,
  secretsOf,
} from "./internal/Credentials.ts"
import { endpointOf } from "./internal/Address.ts"
import { unreachable } from "./internal/failures/ConnectFailure.ts"
import { historyCallIds } from "./internal/CallIds.ts"
import { badProvider, badUrl, idle } from "./internal/failures/Failures.ts"
import { providerProblem } from "./internal/failures/ProviderProblem.ts"
import { rateLimitsOf } from "./internal/RateLimits.ts"
import {
  type FailedAttempt,
  maxBodyChars,
  statusFailure,
} from "./internal/failures/StatusFailure.ts"
import { decodeBody } from "./internal/SseEvents.ts"
import type { WireDecoder } from "./internal/WireDecoder.ts"
import * as ResponsesWire from "./ResponsesWire.ts"

/** Limits and identification of the client. */
export interface HttpModelOptions {
  /**
   * Longest server-sent event in bytes. Default 16 MiB, so that an image in a tool's output fits.
   */
  readonly maxEventSize?: number
  /**
   * Longest body of a response in bytes. Default 64 MiB, the longest line that a rollout file may
   * have.
   */
  readonly maxResponseSize?: number
  /**
   * Value of `User-Agent`; its part before the slash is also the `originator`. Default
   * `colloquy/0.1.0`.
   */
  readonly userAgent?: string
  /** Looks up stored API keys, for providers whose key is not in the environment. */
  readonly findKey?: FindKey
}

export type { FindKey, StoredKey } from "./internal/Credentials.ts"

const defaultMaxEventSize = 16 * 1024 * 1024
const defaultMaxResponseSize = 64 * 1024 * 1024
const defaultUserAgent = "colloquy/0.1.0"

/** Upper limit of `request_max_retries`, as in the original. */
const maxRetriesCap = 100

interface Wire {
  /** Path below the provider's base address. */
  readonly path: string
  /** The JSON body of a request. */
  readonly body: (request: ModelRequest) => Readonly<Record<string, unknown>>
  /** Headers of this wire. */
  readonly headers: (request: ModelRequest, originator: string) => Readonly<Record<string, string>>
  /** Creates the decoder of one response. */
  readonly decoder: (request: ModelRequest) => WireDecoder
}

const responses: Wire = {
  path: "responses",
  body: ResponsesWire.body,
  headers: ({ conversationId }, originator) => ({
    "openai-beta": "responses=experimental",
    conversation_id: conversationId,
    session_id: conversationId,
    originator,
  }),
  decoder: ({ input }) => ResponsesWire.makeDecoder(historyCallIds(input)),
}
const chat: Wire = {
  path: "chat/completions",
  body: ChatWire.body,
  headers: () => ({}),
  decoder: ({ input }) => ChatWire.makeDecoder(historyCallIds(input)),
}
const wireOf = (provider: ModelProvider): Wire => (provider.wire === "chat" ? chat : responses)

const endpoint = (provider: ModelProvider, baseUrl = provider.baseUrl): string =>
  endpointOf(baseUrl, wireOf(provider).path)

const httpRequest = (
  request: ModelRequest,
  body: HttpBody.HttpBody,
  credentials: Credentials,
  userAgent: string,
): HttpClientRequest.HttpClientRequest => {
  const { provider } = request
  return HttpClientRequest.post(endpoint(provider, credentials.baseUrl), {
    body,
    urlParams: provider.queryParams,
    headers: {
      accept: "text/event-stream",
      "user-agent": userAgent,
      ...wireOf(provider).headers(request, userAgent.split("/")[0] ?? userAgent),
    },
  }).pipe(
    credentials.key === undefined ? (self) => self : HttpClientRequest.bearerToken(credentials.key),
    HttpClientRequest.setHeaders({ ...provider.httpHeaders, ...credentials.headers }),
  )
}

/**
 * The first characters of an error's body, with secrets replaced. A body that cannot be read counts
 * as empty.
 */
const errorBody = (
  response: HttpClientResponse.HttpClientResponse,
  { provider }: ModelRequest,
  credentials: Credentials,
): Effect.Effect<string> => {
  const secrets = secretsOf(credentials, provider)
  // Reads farther than the cut, so that a secret which crosses it is found as a whole.
  const enough = maxBodyChars + Math.max(0, ...secrets.map((secret) => secret.length))
  return response.stream.pipe(
    Stream.decodeText(),
    Stream.mapAccum(
      () => 0,
      (length, piece) => {
        const total = length + piece.length
        return [total, [{ piece, full: total >= enough }]]
      },
    ),
    Stream.takeUntil(({ full }) => full),
    Stream.runFold(
      () => "",
      (text, { piece }) => text + piece,
    ),
    Effect.timeoutOrElse({
      duration: provider.streamIdleTimeout,
      orElse: () => Effect.succeed(""),
    }),
    // The status is the error; a body that breaks off adds nothing to it.
    Effect.orElseSucceed(() => ""),
    Effect.map((text) =>
      secrets
        .reduce((rest, secret) => rest.replaceAll(secret, "<redacted>"), text)
        .slice(0, maxBodyChars),
    ),
  )
}

/** What every request of this client has in common. */
interface Sender {
  readonly userAgent: string
  readonly findKey?: FindKey
}

type Attempt = { readonly response: HttpClientResponse.HttpClientResponse } | FailedAttempt

const requestError =
  ({ provider }: ModelRequest, { baseUrl }: Credentials) =>
  (error: HttpClientError.HttpClientError): FailedAttempt => {
    if (error.reason._tag === "InvalidUrlError") return { error: badUrl(provider), repeats: 0 }
    const failure = unreachable(endpoint(provider, baseUrl), error)
    return { error: failure, repeats: failure.retryable ? Number.POSITIVE_INFINITY : 0 }
  }

const sendOnce = (
  client: HttpClient.HttpClient,
  request: ModelRequest,
  body: HttpBody.HttpBody,
  sender: Sender,
): Effect.Effect<Attempt, ModelError, Scope.Scope> =>
  Effect.gen(function* () {
    const { provider } = request
    const problem = providerProblem(provider)
    if (problem !== undefined) return { error: badProvider(provider, problem), repeats: 0 }
    // Read for each attempt, so that a key that was changed meanwhile is used.
    const credentials = yield* readCredentials(provider, sender.findKey)
    // The connection belongs to the stream's scope, which also closes it between the headers and
    // the first read of the body.
    const sent = yield* HttpClient.withScope(client)
      .execute(httpRequest(request, body, credentials, sender.userAgent))
      .pipe(
        // Providers have no use for trace ids of this process.
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        Effect.map((response): Attempt => ({ response })),
        Effect.catch((error) => Effect.succeed<Attempt>(requestError(request, credentials)(error))),
        Effect.timeoutOrElse({
          duration: provider.streamIdleTimeout,
          orElse: () => Effect.succeed<Attempt>({ error: idle, repeats: 0 }),
        }),
      )
    if ("error" in sent) return sent
    const { response } = sent
    if (response.status >= 200 && response.status < 300) return sent
    const text = yield* errorBody(response, request, credentials)
    const now = yield* Clock.currentTimeMillis
    return statusFailure(
      provider.wire,
      { status: response.status, retryAfter: response.headers["retry-after"], body: text },
      now,
    )
  })

/** Repeats the request until there is a response or the retries are used up. */
const sendWithRetries = (
  client: HttpClient.HttpClient,
  request: ModelRequest,
  body: HttpBody.HttpBody,
  sender: Sender,
): Effect.Effect<HttpClientResponse.HttpClientResponse, ModelError, Scope.Scope> =>
  Effect.gen(function* () {
    const most = Math.min(request.provider.requestMaxRetries, maxRetriesCap)
    for (let attempt = 1; ; attempt++) {
      const outcome = yield* sendOnce(client, request, body, sender)
      if ("response" in outcome) return outcome.response
      if (attempt > Math.min(outcome.repeats, most)) return yield* outcome.error
      yield* Effect.sleep(outcome.delayMs ?? (yield* backoff(attempt)))
    }
  })

/**
 * Adds the rate limits to the last event: a stream that breaks off is requested again and reports
 * its limits then.
 */
const withLimits =
  (rateLimits: RateLimits) =>
  (event: ModelEvent): ModelEvent =>
    event._tag === "Completed" ? { ...event, rateLimits } : event

/** A model client that sends its requests with `client`, to the provider of each request. */
export const make = (
  client: HttpClient.HttpClient,
  options?: HttpModelOptions,
): Context.Service.Shape<typeof ModelClient> => {
  const sender: Sender = {
    userAgent: options?.userAgent ?? defaultUserAgent,
    ...(options?.findKey === undefined ? {} : { findKey: options.findKey }),
  }
  const limits = {
    maxEventBytes: options?.maxEventSize ?? defaultMaxEventSize,
    maxResponseBytes: options?.maxResponseSize ?? defaultMaxResponseSize,
  }
  const stream = (request: ModelRequest): Stream.Stream<ModelEvent, ModelError> =>
    Stream.unwrap(
      Effect.suspend(() => {
        const wire = wireOf(request.provider)
        const body = HttpBody.jsonUnsafe(wire.body(request))
        return Effect.map(sendWithRetries(client, request, body, sender), (response) => {
          const rateLimits = rateLimitsOf(response.headers)
          const events = decodeBody(response.stream, wire.decoder(request), {
            idleTimeout: request.provider.streamIdleTimeout,
            provider: request.provider.id,
            ...limits,
          })
          return rateLimits === undefined ? events : Stream.map(events, withLimits(rateLimits))
        })
      }),
    )
  return { stream }
}

/** Layer of the HTTP wires alone; `Models.layer` adds the offline model. */
export const layer = (
  options?: HttpModelOptions,
): Layer.Layer<ModelClient, never, HttpClient.HttpClient> =>
  Layer.effect(
    ModelClient,
    Effect.map(HttpClient.HttpClient, (client) => make(client, options)),
  )
