/**
 * Records what a model exchanges with its provider over an `HttpClient`. The requests and responses pass unchanged; the
 * recording has no secrets in it, no headers of requests, and ids that are the same in every run.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { streamedResponse } from "@colloquy/testing/StreamedResponse"
import {
  type Kinds,
  checkOptions,
  func,
  layer,
  optional,
  options as optionsOf,
} from "../../internal/Options.ts"
import { Cleaning } from "./Cleaning.ts"
import { keptHeaders, requestOf } from "./Exchanges.ts"
import type { Exchange, Recording } from "./Recording.ts"

/** How traffic is recorded. */
export interface RecordOptions {
  /** Sends the requests. Default: `fetch` of the platform. */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient>
  /** Gets the whole recording so far each time a response has ended, for example to write it to a file. */
  readonly save?: (recording: Recording) => Effect.Effect<void>
}

const recordOptions = optionsOf({
  httpClient: optional(layer),
  save: optional(func),
} satisfies Kinds<RecordOptions>)

/** A recorder. */
export interface Recorder {
  /** For `Agent.openai` and `Agent.chatCompletions`. */
  readonly httpClient: Layer.Layer<HttpClient.HttpClient>
  /** Everything that has ended so far, in the order of the requests. */
  readonly recording: () => Recording
}

type End = "complete" | "broken" | "cancelled"

/** One request and what is known of its response. */
interface Taken {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly url: URL
  outcome?:
    | { readonly failure: string }
    | {
        readonly response: HttpClientResponse.HttpClientResponse
        readonly body: string
        readonly end: End
      }
}

const endOf = (exit: Exit.Exit<unknown, unknown>): End => {
  if (Exit.isSuccess(exit)) return "complete"
  return Cause.hasInterruptsOnly(exit.cause) ? "cancelled" : "broken"
}

const exchangeOf = ({ outcome, request, url }: Taken, cleaning: Cleaning): Exchange | undefined => {
  const cleaned = requestOf(request, url, cleaning)
  if (outcome === undefined) return undefined
  if ("failure" in outcome) {
    return { request: cleaned, response: { failure: cleaning.text(outcome.failure) } }
  }
  const { body, end, response } = outcome
  return {
    request: cleaned,
    response: {
      status: response.status,
      headers: keptHeaders(response.headers),
      lines: cleaning.lines(body),
      end,
    },
  }
}

/** The response, whose body is also given to `onEnd` once it has ended. */
const tapped = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse,
  onEnd: (body: string, end: End) => Effect.Effect<void>,
): HttpClientResponse.HttpClientResponse => {
  const decoder = new TextDecoder()
  let body = ""
  const stream: Stream.Stream<Uint8Array, HttpClientError.HttpClientError> = response.stream.pipe(
    Stream.tap((bytes) =>
      Effect.sync(() => {
        body += decoder.decode(bytes, { stream: true })
      }),
    ),
    Stream.onExit((exit) => Effect.suspend(() => onEnd(body + decoder.decode(), endOf(exit)))),
  )
  const { headers, status } = response
  return streamedResponse(request, { status, headers: { ...headers } }, stream)
}

/** A client that adds what it exchanges to `taken`, and calls `saved` after each response. */
const recording = (
  client: HttpClient.HttpClient,
  taken: Array<Taken>,
  saved: Effect.Effect<void>,
): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    Effect.suspend(() => {
      const one: Taken = { request, url }
      taken.push(one)
      const ended = (outcome: NonNullable<Taken["outcome"]>) => {
        one.outcome = outcome
        return saved
      }
      return client.execute(request).pipe(
        Effect.onError((cause) =>
          ended({ failure: Cause.hasInterruptsOnly(cause) ? "cancelled" : Cause.pretty(cause) }),
        ),
        Effect.map((response) =>
          tapped(request, response, (body, end) => ended({ response, body, end })),
        ),
      )
    }),
  )

/** Makes a recorder. */
export const record = (options: RecordOptions = {}): Recorder => {
  checkOptions("Agent.record", recordOptions, options)
  const taken: Array<Taken> = []
  const soFar = (): Recording => {
    const cleaning = new Cleaning()
    const exchanges = taken.map((one) => exchangeOf(one, cleaning))
    return { version: 1, exchanges: exchanges.filter((one) => one !== undefined) }
  }
  const saved = Effect.suspend(() => options.save?.(soFar()) ?? Effect.void)
  return {
    recording: soFar,
    httpClient: Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, (client) => recording(client, taken, saved)),
    ).pipe(Layer.provide(options.httpClient ?? FetchHttpClient.layer)),
  }
}
