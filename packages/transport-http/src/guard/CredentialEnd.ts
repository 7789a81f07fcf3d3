/**
 * The end of what a request keeps open: a token that is withdrawn, or an access token that expires, ends the streams and the
 * connections that were opened with it, as it ends the next request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Principals } from "./Principals.ts"

/** How often the credentials of what is open are looked at again. */
const checkEvery = "10 seconds"

/** Resolves when the credentials of the request that is served are not valid any more. Default: never. */
export const CredentialEnd = Context.Reference<Effect.Effect<void>>(
  "@colloquy/transport-http/CredentialEnd",
  { defaultValue: () => Effect.never },
)

/**
 * Resolves when the credentials of a request do not give this principal any more. While nobody can say whether they do, they
 * count as before.
 */
export const credentialEnd = (
  request: HttpServerRequest.HttpServerRequest,
  principal: string,
  { identify }: Principals["Service"],
): Effect.Effect<void> => {
  const isValid = Effect.match(identify(request.headers), {
    onFailure: (error) => error._tag === "IssuerUnavailable",
    onSuccess: (found) => found === principal,
  })
  return Effect.sleep(checkEvery).pipe(
    Effect.andThen(isValid),
    Effect.repeat({ while: (valid) => valid }),
    Effect.asVoid,
  )
}

/** The response, which ends with the credentials if it is a stream. */
export const endingWith = (
  response: HttpServerResponse.HttpServerResponse,
  end: () => Effect.Effect<void>,
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  return body._tag === "Stream"
    ? HttpServerResponse.setBody(
        response,
        HttpBody.stream(
          Stream.interruptWhen(body.stream, end()),
          body.contentType,
          body.contentLength,
        ),
      )
    : response
}
