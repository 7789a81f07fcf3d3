/**
 * OAuth 2.1 access tokens of one issuer, as JWTs (RFC 9068): signature, issuer, audience, expiry and scopes. A valid token
 * acts for the principal `oauth:<sub>`, which no other source of principals can name. No error contains a token.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose"
import {
  InsufficientScope,
  type NotIdentified,
  type TokenVerifier,
  Unauthorized,
} from "../guard/Principals.ts"
import * as KeySet from "./KeySet.ts"
import { challengeOf } from "./ResourceMetadata.ts"
import { isSafeAddress } from "./SafeAddress.ts"

/** Whose access tokens a server accepts, and for what. */
export interface AccessTokenOptions {
  /** The issuer, as its tokens name it: an `https` address, or `http` on the loopback interface. */
  readonly issuer: string
  /** The address under which clients reach what is protected, such as `https://example.org/mcp`. */
  readonly resource: string
  /** Expected in `aud`. Default: `resource`. */
  readonly audience?: string
  /** Scopes that a token must have, all of them. Default: none. */
  readonly scopes?: ReadonlyArray<string>
  /** Where the keys of the issuer are. Default: what its metadata says. */
  readonly jwksUri?: string
}

/** An option cannot be used. */
export class BadAccessTokenOptions extends Data.TaggedError("BadAccessTokenOptions")<{
  /** Name of the option: `issuer`, `resource` or `jwks_uri`. */
  readonly field: string
  readonly message: string
}> {}

/** Signatures with a private key only: with a shared secret, whoever verifies could sign. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
]

/** Difference between the clocks of issuer and server, in seconds. */
const clockTolerance = 30

/** Long enough for every issuer, and short enough for a name in a log. */
const maxSubjectLength = 256

/** The first option that is not safe to use; undefined if there is none. */
export const optionsProblem = (options: AccessTokenOptions): BadAccessTokenOptions | undefined => {
  const addresses = {
    issuer: options.issuer,
    resource: options.resource,
    jwks_uri: options.jwksUri,
  }
  for (const [field, address] of Object.entries(addresses)) {
    if (address === undefined || isSafeAddress(address)) continue
    const message = `expected an https address; got ${JSON.stringify(address)}`
    return new BadAccessTokenOptions({ field, message })
  }
  return undefined
}

/** The scopes of a token: a text with spaces (RFC 9068), or what other issuers send. */
const scopesOf = ({ scope, scp }: JWTPayload): ReadonlyArray<string> => {
  const claim = scope ?? scp
  if (typeof claim === "string") return claim.split(" ")
  return Array.isArray(claim) ? claim.filter((one) => typeof one === "string") : []
}

/** The library did not accept a token. */
class NotVerified extends Data.TaggedError("NotVerified")<{
  /** Without what the token contains. */
  readonly message: string
  /** True if the issuer has no such key, as far as is known. */
  readonly isUnknownKey: boolean
}> {}

const notVerified = (error: unknown): NotVerified => {
  const isUnknownKey = error instanceof errors.JWKSNoMatchingKey
  if (error instanceof errors.JWTExpired) {
    return new NotVerified({ message: "the access token has expired", isUnknownKey })
  }
  const where = error instanceof errors.JWTClaimValidationFailed ? ` here: \`${error.claim}\`` : ""
  return new NotVerified({ message: `the access token is not valid${where}`, isUnknownKey })
}

/** Verifies the tokens of the issuer. Fails for options that are not safe; reads nothing yet. */
export const make = Effect.fnUntraced(function* (
  options: AccessTokenOptions,
): Effect.fn.Return<TokenVerifier, BadAccessTokenOptions, HttpClient.HttpClient> {
  const { audience = options.resource, issuer, jwksUri, resource, scopes = [] } = options
  const problem = optionsProblem(options)
  if (problem !== undefined) return yield* problem
  const { keys } = yield* KeySet.make(issuer, jwksUri)
  const challenge = challengeOf(resource, scopes)
  const invalid = (message: string) =>
    new Unauthorized({ message, challenge: `Bearer ${challenge}, error="invalid_token"` })

  const verify = (token: string, get: JWTVerifyGetKey, nowMs: number) =>
    Effect.tryPromise({
      try: () =>
        jwtVerify(token, get, {
          issuer,
          audience,
          algorithms,
          clockTolerance,
          currentDate: new Date(nowMs),
          requiredClaims: ["exp", "sub"],
        }),
      catch: notVerified,
    })

  const payloadOf = Effect.fnUntraced(function* (token: string) {
    const nowMs = yield* Clock.currentTimeMillis
    const first = yield* Effect.result(verify(token, yield* keys({ renewed: false }), nowMs))
    if (first._tag === "Success") return first.success.payload
    if (!first.failure.isUnknownKey) return yield* invalid(first.failure.message)
    const { payload } = yield* Effect.mapError(
      verify(token, yield* keys({ renewed: true }), nowMs),
      ({ message }) => invalid(message),
    )
    return payload
  })

  const identify = (token: string): Effect.Effect<string, NotIdentified> =>
    Effect.gen(function* () {
      const payload = yield* payloadOf(token)
      const { sub } = payload
      if (sub === undefined || sub === "" || sub.length > maxSubjectLength) {
        return yield* invalid("the access token is not valid here: `sub`")
      }
      const had = new Set(scopesOf(payload))
      if (!scopes.every((scope) => had.has(scope))) {
        return yield* new InsufficientScope({
          message: `the access token needs the scopes ${scopes.join(", ")}`,
          challenge: `Bearer ${challenge}, error="insufficient_scope"`,
        })
      }
      return `oauth:${sub}`
    })

  return { identify, challenge }
})
