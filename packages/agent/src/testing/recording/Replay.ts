/** Answers the requests of a model from a recording, without a network. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { brokenConnection, streamedResponse } from "@colloquy/testing/StreamedResponse"
import { checkOptions, is } from "../../internal/Options.ts"
import { Cleaning } from "./Cleaning.ts"
import { differenceOf, requestOf } from "./Exchanges.ts"
import { type Exchange, Recording } from "./Recording.ts"

/** A provider that repeats a recording. */
export interface Replay {
  /** For `Agent.openai` and `Agent.chatCompletions`; the API key may be any text. */
  readonly httpClient: Layer.Layer<HttpClient.HttpClient>
  /** Where the requests first differed from the recording; undefined: nowhere so far. */
  readonly difference: () => string | undefined
  /** Number of recorded exchanges that no request has used. */
  readonly left: () => number
}

type Response = HttpClientResponse.HttpClientResponse

const encoder = new TextEncoder()

const respond = (
  request: HttpClientRequest.HttpClientRequest,
  { response }: Exchange,
): Effect.Effect<Response, HttpClientError.HttpClientError> => {
  if ("failure" in response) {
    if (response.failure === "cancelled") return Effect.never
    return Effect.fail(brokenConnection(request, response.failure))
  }
  const { end, headers, lines, status } = response
  const body = Stream.fromIterable(
    lines.map((line, i) => encoder.encode(i === lines.length - 1 ? line : `${line}\n`)),
  )
  const ends = {
    complete: Stream.empty,
    broken: Stream.fail(brokenConnection(request)),
    cancelled: Stream.never,
  }
  return Effect.succeed(
    streamedResponse(request, { status, headers }, Stream.concat(body, ends[end])),
  )
}

/** The model's error says what differs; it is not tried again. */
const refuse = (request: HttpClientRequest.HttpClientRequest, message: string): Response =>
  streamedResponse(
    request,
    { status: 400, headers: { "content-type": "application/json" } },
    Stream.succeed(encoder.encode(JSON.stringify({ error: { message } }))),
  )

const recordingKind = is("a recording of Agent.record, parsed from its JSON", (value) =>
  Predicate.isObject(value),
)

/**
 * Makes a provider that answers each request with the recorded response. A request gets the oldest response that no
 * request has got and whose own request is equal, secrets and ids aside: conversations that ask at the same time may do so
 * in another order than in the recording. The first request that has none, and every one after it, fails its turn with an
 * error that names the difference from the oldest one that is left.
 *
 * @param json a `Recording`, as parsed from JSON. Throws where it is none.
 */
export const replay = (json: unknown): Replay => {
  checkOptions("Agent.replay json", recordingKind, json)
  const { exchanges } = Schema.decodeUnknownSync(Recording)(json)
  const cleaning = new Cleaning()
  const left = exchanges.map((exchange, i) => ({ exchange, name: `request ${i + 1}` }))
  let difference: string | undefined
  const compare = (request: Exchange["request"]): Exchange | undefined => {
    if (difference !== undefined) return undefined
    const differences = left.map(({ exchange, name }) =>
      differenceOf(exchange.request, request, name),
    )
    const equal = differences.indexOf(undefined)
    if (equal !== -1) return left.splice(equal, 1)[0]?.exchange
    difference =
      differences[0] ??
      `request ${exchanges.length + 1} is not in the recording, which has ${exchanges.length}`
    return undefined
  }
  const client = HttpClient.make((request, url) =>
    Effect.suspend(() => {
      const exchange = compare(requestOf(request, url, cleaning))
      if (exchange === undefined) {
        return Effect.succeed(refuse(request, `the replay stopped: ${difference}`))
      }
      return respond(request, exchange)
    }),
  )
  return {
    httpClient: Layer.succeed(HttpClient.HttpClient, client),
    difference: () => difference,
    left: () => left.length,
  }
}
