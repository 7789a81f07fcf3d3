/**
 * The authorization code flow with PKCE (RFC 6749, RFC 7636) against a configured issuer: the address for the browser, the
 * exchange of the code, the refresh of the tokens. Errors name the step and the issuer's error code, never a token.
 */
import { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createHash, randomBytes } from "node:crypto"
import type { Tokens } from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"

/** The OAuth issuer of logins. */
export interface Issuer {
  /** Base URL without a trailing slash. */
  readonly url: string
  readonly clientId: string
  /** Requested scopes, separated by spaces. */
  readonly scopes: string
}

/** The secrets of one login. No other process knows them until the code is exchanged. */
export interface Attempt {
  readonly verifier: Redacted.Redacted
  /** The redirect must carry it together with the code, so that the code of another login is not accepted. */
  readonly state: string
  readonly redirectUri: string
}

const random = (bytes: number) => randomBytes(bytes).toString("base64url")

/** Creates a verifier of 64 random bytes and a state of 32. */
export const newAttempt = (redirectUri: string): Effect.Effect<Attempt> =>
  Effect.sync(() => ({
    verifier: Redacted.make(random(64)),
    state: random(32),
    redirectUri,
  }))

const challengeOf = (verifier: Redacted.Redacted): string =>
  createHash("sha256").update(Redacted.value(verifier)).digest("base64url")

/** The address to open in the browser. */
export const authorizeUrl = (issuer: Issuer, attempt: Attempt): string => {
  const url = new URL(`${issuer.url}/oauth/authorize`)
  for (const [name, value] of [
    ["response_type", "code"],
    ["client_id", issuer.clientId],
    ["redirect_uri", attempt.redirectUri],
    ["scope", issuer.scopes],
    ["code_challenge", challengeOf(attempt.verifier)],
    ["code_challenge_method", "S256"],
    ["state", attempt.state],
  ] as const) {
    url.searchParams.set(name, value)
  }
  return url.href
}

const TokenResponse = Schema.fromJsonString(
  Schema.Struct({
    access_token: Schema.String,
    id_token: Schema.optionalKey(Schema.String),
    refresh_token: Schema.optionalKey(Schema.String),
  }),
)
const ErrorResponse = Schema.fromJsonString(
  Schema.Struct({ error: Schema.String.check(Schema.isPattern(/^[\w.-]{1,64}$/)) }),
)

const decodeTokens = Schema.decodeUnknownResult(TokenResponse)
const decodeError = Schema.decodeUnknownResult(ErrorResponse)

const fail = (message: string) => new AuthFailed({ message })

const refusalOf = (step: string, status: number, body: string): AuthFailed => {
  const error = decodeError(body)
  const code = Result.isSuccess(error) ? `, ${error.success.error}` : ""
  return fail(`${step}: the issuer responded with status ${status}${code}`)
}

/** Longest response that is read: tokens take a few KiB. */
const maxResponseBytes = 1024 * 1024

/** Time limit of a request, because a turn may be waiting for its tokens. */
const requestTimeout = "30 seconds"

const post = Effect.fnUntraced(function* (
  issuer: Issuer,
  step: string,
  form: Readonly<Record<string, string>>,
): Effect.fn.Return<typeof TokenResponse.Type, AuthFailed, HttpClient.HttpClient> {
  const request = HttpClientRequest.post(`${issuer.url}/oauth/token`).pipe(
    HttpClientRequest.bodyUrlParams({ client_id: issuer.clientId, ...form }),
  )
  const { body, status } = yield* HttpClient.execute(request).pipe(
    Effect.flatMap((response) =>
      response.stream.pipe(
        Stream.mapError(() => fail(`${step}: the issuer cannot be reached`)),
        Stream.limitBytes(maxResponseBytes, () =>
          Stream.fail(
            fail(`${step}: the issuer's response is longer than ${maxResponseBytes} bytes`),
          ),
        ),
        Stream.mkUint8Array,
        Effect.map((bytes) => ({
          body: new TextDecoder().decode(bytes),
          status: response.status,
        })),
      ),
    ),
    Effect.scoped,
    Effect.timeoutOrElse({
      duration: requestTimeout,
      orElse: () => Effect.fail(fail(`${step}: the issuer did not respond in time`)),
    }),
    // The library's error text would quote the request.
    Effect.catchTag("HttpClientError", () => fail(`${step}: the issuer cannot be reached`)),
  )
  if (status < 200 || status >= 300) return yield* refusalOf(step, status, body)
  const tokens = decodeTokens(body)
  if (Result.isFailure(tokens)) {
    return yield* fail(`${step}: expected a JSON object with \`access_token\``)
  }
  return tokens.success
})

const tokensOf = (
  response: typeof TokenResponse.Type,
  before?: Tokens,
): Result.Result<Tokens, AuthFailed> => {
  const idToken =
    response.id_token === undefined ? before?.idToken : Redacted.make(response.id_token)
  const refreshToken =
    response.refresh_token === undefined
      ? before?.refreshToken
      : Redacted.make(response.refresh_token)
  if (idToken === undefined || refreshToken === undefined) {
    return Result.fail(fail("login: expected `id_token` and `refresh_token` from the issuer"))
  }
  const accountId = claimsOf(idToken).accountId ?? before?.accountId
  return Result.succeed({
    idToken,
    refreshToken,
    accessToken: Redacted.make(response.access_token),
    ...(accountId === undefined ? {} : { accountId }),
  })
}

/** Exchanges a code that arrived with the attempt's state for tokens. */
export const exchange = (
  issuer: Issuer,
  attempt: Attempt,
  code: string,
): Effect.Effect<Tokens, AuthFailed, HttpClient.HttpClient> =>
  post(issuer, "login", {
    grant_type: "authorization_code",
    code,
    redirect_uri: attempt.redirectUri,
    code_verifier: Redacted.value(attempt.verifier),
  }).pipe(Effect.flatMap((response) => Effect.fromResult(tokensOf(response))))

/** Refreshes the tokens. Those that the response omits are kept. */
export const refresh = (
  issuer: Issuer,
  tokens: Tokens,
): Effect.Effect<Tokens, AuthFailed, HttpClient.HttpClient> =>
  post(issuer, "refresh", {
    grant_type: "refresh_token",
    refresh_token: Redacted.value(tokens.refreshToken),
    scope: issuer.scopes,
  }).pipe(Effect.flatMap((response) => Effect.fromResult(tokensOf(response, tokens))))
