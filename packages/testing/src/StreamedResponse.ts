/** HTTP responses of a client in memory. */
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

/** The failure of a connection that breaks. */
export const brokenConnection = (
  request: HttpClientRequest.HttpClientRequest,
  description = "connection reset",
): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description }),
  })

/** A response whose body is this stream: a web response for everything else, whose stream would use native promises. */
export const streamedResponse = (
  request: HttpClientRequest.HttpClientRequest,
  init: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>,
): HttpClientResponse.HttpClientResponse =>
  Object.create(HttpClientResponse.fromWeb(request, new Response(null, init)), {
    stream: { get: () => body },
    text: { get: () => Stream.mkString(Stream.decodeText(body)) },
  }) as HttpClientResponse.HttpClientResponse
