/**
 * A scripted model provider in memory: an `HttpClient` whose delays are on the clock of the test.
 *
 * There is no promise and no web stream between the script and the client, so only `TestClock` advances it (L12).
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { seenRequest, type SeenRequest } from "./internal/ProviderRequest.ts"
import { type ProviderAction, render } from "./ProviderBody.ts"
import {
  type ProviderReply,
  type ProviderScript,
  type ProviderWire,
  replyTo,
} from "./ProviderScript.ts"
import { brokenConnection, streamedResponse } from "./StreamedResponse.ts"

/** The provider and what it has received. */
export interface MemoryProvider {
  readonly layer: Layer.Layer<HttpClient.HttpClient>
  /** Requests in order of arrival. */
  readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
  /** Indices of the requests that the client cancelled, in order. */
  readonly closed: Effect.Effect<ReadonlyArray<number>>
}

const bodyText = (request: HttpClientRequest.HttpClientRequest): string =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""

const encoder = new TextEncoder()

/** Divides a body at any place, as a network may. */
const pieces = (body: string): ReadonlyArray<Uint8Array> =>
  (body.match(/.{1,16}/gs) ?? []).map((piece) => encoder.encode(piece))

const perform =
  (request: HttpClientRequest.HttpClientRequest) =>
  (action: ProviderAction): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> => {
    switch (action._tag) {
      case "Write":
        return Stream.succeed(encoder.encode(action.text))
      case "Wait":
        return Stream.fromEffectDrain(Effect.sleep(action.duration))
      case "Drop":
        return Stream.fail(brokenConnection(request))
      case "Hang":
        return Stream.never
    }
  }

/** The HTTP response of a reply; `onCancel` runs when the client cancels the request. */
const respond = (
  request: HttpClientRequest.HttpClientRequest,
  wire: ProviderWire,
  reply: ProviderReply,
  onCancel: Effect.Effect<void>,
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> => {
  switch (reply._tag) {
    case "Refuse":
      return Effect.fail(brokenConnection(request))
    case "Silence":
      return Effect.onInterrupt(Effect.never, () => onCancel)
    case "Status":
      return Effect.succeed(
        streamedResponse(
          request,
          reply,
          Stream.fromIterable(pieces(reply.body)).pipe(Stream.rechunk(1)),
        ),
      )
    case "Stream":
      return Effect.succeed(
        streamedResponse(
          request,
          { status: 200, headers: { "content-type": "text/event-stream" } },
          Stream.fromIterable(render(wire, reply)).pipe(
            Stream.flatMap(perform(request)),
            Stream.onExit((exit) => (Exit.hasInterrupts(exit) ? onCancel : Effect.void)),
          ),
        ),
      )
  }
}

/** Creates a provider. */
export const make = (script: ProviderScript): Effect.Effect<MemoryProvider> =>
  Effect.sync(() => {
    const requests: Array<SeenRequest> = []
    const closed: Array<number> = []
    const client = HttpClient.make((request, url) =>
      Effect.suspend(() => {
        const call = seenRequest(requests.length, {
          method: request.method,
          url: url.href,
          headers: { ...request.headers },
          body: bodyText(request),
        })
        requests.push(call)
        const onCancel = Effect.sync(() => {
          closed.push(call.index)
        })
        return respond(request, call.wire, replyTo(script, call), onCancel)
      }),
    )
    return {
      layer: Layer.succeed(HttpClient.HttpClient, client),
      requests: Effect.sync(() => [...requests]),
      closed: Effect.sync(() => [...closed]),
    }
  })
