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
import {
  ModelClient,
  type ModelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type RateLimits,
} from "@colloquy/core/ModelClient"
import * as Arr from "effect/Array"
import * as Channel from "effect/Channel"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ChatWire from "./ChatWire.ts"
import { historyCallIds } from "./internal/CallIds.ts"
import type { FindKey } from "./internal/Credentials.ts"
import * as HttpClientAdapter from "./internal/HttpClientAdapter.ts"
import { IdleDeadline } from "./internal/IdleDeadline.ts"
import { IdleDeadlines } from "./internal/IdleDeadlines.ts"
import { type BodyShape, RequestBodies } from "./internal/RequestBodies.ts"
import { rateLimitsOf } from "./internal/RateLimits.ts"
import { send, type Sender } from "./internal/Sending.ts"
import { decodeBody, type EventPull } from "./internal/SseEvents.ts"
import { Targets } from "./internal/Targets.ts"
import type { WireDecoder } from "./internal/WireDecoder.ts"
import type { ProviderHttp } from "./ProviderHttp.ts"
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

interface Wire extends BodyShape {
  /** Path below the provider's base address. */
  readonly path: string
  /** Headers of this wire. */
  readonly headers: (request: ModelRequest, originator: string) => Readonly<Record<string, string>>
  /** Creates the decoder of one response. */
  readonly decoder: (request: ModelRequest) => WireDecoder
}

const responses: Wire = {
  path: "responses",
  body: ResponsesWire.body,
  tool: ResponsesWire.tool,
  headers: ({ conversationId }, originator) => ({
    "openai-beta": "responses=experimental",
    conversation_id: conversationId,
    session_id: conversationId,
    originator,
  }),
  decoder: ({ input }) => ResponsesWire.makeDecoder(() => historyCallIds(input)),
}
const chat: Wire = {
  path: "chat/completions",
  body: ChatWire.body,
  tool: ChatWire.tool,
  headers: () => ({}),
  decoder: ({ input }) => ChatWire.makeDecoder(() => historyCallIds(input)),
}
const wireOf = (provider: ModelProvider): Wire => (provider.wire === "chat" ? chat : responses)

/**
 * Adds the rate limits to the last event: a stream that breaks off is requested again and reports
 * its limits then.
 */
const withLimits =
  (rateLimits: RateLimits) =>
  (event: ModelEvent): ModelEvent =>
    event._tag === "Completed" ? { ...event, rateLimits } : event

/** What every response of one client needs. */
interface Client extends Sender {
  readonly bodies: { readonly chat: RequestBodies; readonly responses: RequestBodies }
  readonly deadlines: IdleDeadlines
  readonly limits: { readonly maxEventBytes: number; readonly maxResponseBytes: number }
}

const bodiesOf = ({ bodies }: Client, provider: ModelProvider): RequestBodies =>
  provider.wire === "chat" ? bodies.chat : bodies.responses

/** Sends the request at the first run; every run gives the next events of its response. */
const pullOf = (client: Client, request: ModelRequest, scope: Scope.Scope): EventPull => {
  const { provider } = request
  const wire = wireOf(provider)
  const deadline = new IdleDeadline(client.deadlines, scope)
  let events: EventPull | undefined
  const first = Effect.suspend(() => {
    const sent = {
      provider,
      path: wire.path,
      headers: wire.headers(request, client.userAgent.split("/")[0] ?? client.userAgent),
      body: bodiesOf(client, provider).encode(request),
      scope,
      deadline,
    }
    return Effect.flatMap(send(sent, client), ({ exchange, head }): EventPull => {
      const decoded = decodeBody(exchange, deadline, wire.decoder(request), {
        idleTimeout: provider.streamIdleTimeout,
        provider: provider.id,
        ...client.limits,
      })
      const rateLimits = rateLimitsOf(head.headers)
      events =
        rateLimits === undefined
          ? decoded
          : Effect.map(decoded, (array) => Arr.map(array, withLimits(rateLimits)))
      return events
    })
  })
  return Effect.suspend(() => events ?? first)
}

/** A model client that sends its requests through `http`, to the provider of each request. Its fibers end with the scope. */
export const makeWith = (
  http: ProviderHttp,
  options?: HttpModelOptions,
): Effect.Effect<Context.Service.Shape<typeof ModelClient>, never, Scope.Scope> =>
  Effect.map(IdleDeadlines.make, (deadlines) => {
    const client: Client = {
      http,
      deadlines,
      targets: new Targets(),
      bodies: { chat: new RequestBodies(chat), responses: new RequestBodies(responses) },
      userAgent: options?.userAgent ?? defaultUserAgent,
      ...(options?.findKey === undefined ? {} : { findKey: options.findKey }),
      limits: {
        maxEventBytes: options?.maxEventSize ?? defaultMaxEventSize,
        maxResponseBytes: options?.maxResponseSize ?? defaultMaxResponseSize,
      },
    }
    const stream = (request: ModelRequest): Stream.Stream<ModelEvent, ModelError> =>
      Stream.fromChannel(
        Channel.fromTransform((_upstream, scope) =>
          Effect.sync(() => pullOf(client, request, scope)),
        ),
      )
    return { stream }
  })

/** A model client that sends its requests with `client`, to the provider of each request. Its fibers end with the scope. */
export const make = (
  client: HttpClient.HttpClient,
  options?: HttpModelOptions,
): Effect.Effect<Context.Service.Shape<typeof ModelClient>, never, Scope.Scope> =>
  makeWith(HttpClientAdapter.make(client), options)

/** Layer of the HTTP wires alone; `Models.layer` adds the offline model. */
export const layer = (
  options?: HttpModelOptions,
): Layer.Layer<ModelClient, never, HttpClient.HttpClient> =>
  Layer.effect(
    ModelClient,
    Effect.flatMap(HttpClient.HttpClient, (client) => make(client, options)),
  )
