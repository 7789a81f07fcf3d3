/**
 * The model client over HTTP: one `POST` per request, its server-sent events as model events, on either wire.
 *
 * Owns headers, key, the retries of the HTTP request and both timeouts. It never repeats a stream that has begun:
 * that is the turn loop's. All waits are on `Clock` (L12); interruption closes the connection.
 *
 * Events come in arrays, one per network chunk, and cost no fiber step each.
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
import { unreachable } from "./internal/ConnectFailure.ts"
import { historyCallIds } from "./internal/GivenCallIds.ts"
import { badProvider, badUrl, idle } from "./internal/Failures.ts"
import { providerProblem } from "./internal/ProviderProblem.ts"
import { rateLimitsOf } from "./internal/RateLimits.ts"
import { type FailedTry, maxBodyChars, statusFailure } from "./internal/StatusFailure.ts"
import { decodeBody } from "./internal/SseEvents.ts"
import type { WireDecoder } from "./internal/WireDecoder.ts"
import * as ResponsesWire from "./ResponsesWire.ts"

export interface HttpModelOptions {
  /** Longest server-sent event in bytes; 16 MiB by default: an image in a tool's answer fits. */
  readonly maxEventSize?: number
  /** Longest body of a response in bytes; 64 MiB by default, the longest line that a rollout file holds. */
  readonly maxResponseSize?: number
  /** `User-Agent`; the part before the slash is also the `originator`. */
  readonly userAgent?: string
  /** Where keys are kept that are not in the environment. */
  readonly findKey?: FindKey
}

export type { FindKey, StoredKey } from "./internal/Credentials.ts"

const defaultMaxEventSize = 16 * 1024 * 1024
const defaultMaxResponseSize = 64 * 1024 * 1024
const defaultUserAgent = "colloquy/0.1.0"

/** §6.4: more is never wanted, whatever the configuration says. */
const maxRetriesCap = 100

interface Wire {
  readonly path: string
  readonly body: (request: ModelRequest) => Readonly<Record<string, unknown>>
  readonly headers: (request: ModelRequest, originator: string) => Readonly<Record<string, string>>
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

/** The first characters of an error's body, without what is secret; what cannot be read is left out. */
const errorBody = (
  response: HttpClientResponse.HttpClientResponse,
  { provider }: ModelRequest,
  credentials: Credentials,
): Effect.Effect<string> => {
  const secrets = secretsOf(credentials, provider)
  // A secret that begins before the cut must be whole to be found.
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

/** What every request of this client carries. */
interface Sender {
  readonly userAgent: string
  readonly findKey?: FindKey
}

type Try = { readonly response: HttpClientResponse.HttpClientResponse } | FailedTry

const requestError =
  ({ provider }: ModelRequest, { baseUrl }: Credentials) =>
  (error: HttpClientError.HttpClientError): FailedTry => {
    if (error.reason._tag === "InvalidUrlError") return { error: badUrl(provider), repeats: 0 }
    const failure = unreachable(endpoint(provider, baseUrl), error)
    return { error: failure, repeats: failure.retryable ? Number.POSITIVE_INFINITY : 0 }
  }

const tryOnce = (
  client: HttpClient.HttpClient,
  request: ModelRequest,
  body: HttpBody.HttpBody,
  sender: Sender,
): Effect.Effect<Try, ModelError, Scope.Scope> =>
  Effect.gen(function* () {
    const { provider } = request
    const problem = providerProblem(provider)
    if (problem !== undefined) return { error: badProvider(provider, problem), repeats: 0 }
    // Read for each try, so that a key rotated meanwhile counts.
    const credentials = yield* readCredentials(provider, sender.findKey)
    // The scope is the stream's: it closes the connection also between the headers and the first read of the body.
    const sent = yield* HttpClient.withScope(client)
      .execute(httpRequest(request, body, credentials, sender.userAgent))
      .pipe(
        // Providers have no use for our trace ids.
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        Effect.map((response): Try => ({ response })),
        Effect.catch((error) => Effect.succeed<Try>(requestError(request, credentials)(error))),
        Effect.timeoutOrElse({
          duration: provider.streamIdleTimeout,
          orElse: () => Effect.succeed<Try>({ error: idle, repeats: 0 }),
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

/** Tries until a response comes or the retries are used up. */
const open = (
  client: HttpClient.HttpClient,
  request: ModelRequest,
  body: HttpBody.HttpBody,
  sender: Sender,
): Effect.Effect<HttpClientResponse.HttpClientResponse, ModelError, Scope.Scope> =>
  Effect.gen(function* () {
    const most = Math.min(request.provider.requestMaxRetries, maxRetriesCap)
    for (let attempt = 1; ; attempt++) {
      const outcome = yield* tryOnce(client, request, body, sender)
      if ("response" in outcome) return outcome.response
      if (attempt > Math.min(outcome.repeats, most)) return yield* outcome.error
      yield* Effect.sleep(outcome.delayMs ?? (yield* backoff(attempt)))
    }
  })

/** They are told with the end: what breaks off is asked for again, and told then. */
const withLimits =
  (rateLimits: RateLimits) =>
  (event: ModelEvent): ModelEvent =>
    event._tag === "Completed" ? { ...event, rateLimits } : event

/** A model client whose requests go through `client`. The provider of each request says where to. */
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
        return Effect.map(open(client, request, body, sender), (response) => {
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

/** The HTTP half alone; `Models.layer` adds the offline model. */
export const layer = (
  options?: HttpModelOptions,
): Layer.Layer<ModelClient, never, HttpClient.HttpClient> =>
  Layer.effect(
    ModelClient,
    Effect.map(HttpClient.HttpClient, (client) => make(client, options)),
  )
