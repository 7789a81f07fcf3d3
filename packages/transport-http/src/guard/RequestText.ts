/**
 * The text of a body, which has to be UTF-8: a byte that is none would be read as another character, so that a request with
 * one id would be answered under another.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** Why the text of a body could not be read. */
export class NotUtf8 extends Data.TaggedError("NotUtf8")<{ readonly message: string }> {}

const decoder = new TextDecoder("utf-8", { fatal: true })

const decoded = (request: HttpServerRequest.HttpServerRequest) => (bytes: ArrayBuffer) =>
  Effect.try({
    try: () => decoder.decode(bytes),
    catch: () =>
      new HttpServerError({
        reason: new RequestParseError({
          request,
          cause: new NotUtf8({ message: "the body: expected UTF-8" }),
        }),
      }),
  })

/** The same request, of which the text fails where its body is not UTF-8. */
export const withStrictText = (
  request: HttpServerRequest.HttpServerRequest,
): HttpServerRequest.HttpServerRequest => {
  const strict: HttpServerRequest.HttpServerRequest = Object.create(request, {
    text: { get: () => Effect.flatMap(request.arrayBuffer, decoded(request)) },
  })
  return strict
}
