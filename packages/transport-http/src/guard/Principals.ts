/** Says on whose behalf a request acts, by its headers. Knows no route. */
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hash, timingSafeEqual } from "node:crypto"

/** A request acts for no principal: it has no credentials, or they are not valid. The message never contains them. */
export class Unauthorized extends Data.TaggedError("Unauthorized")<{
  readonly message: string
  /** Value of `WWW-Authenticate`: how to authenticate (RFC 6750). */
  readonly challenge: string
}> {}

/** The access token is valid and does not allow the use of this server. */
export class InsufficientScope extends Data.TaggedError("InsufficientScope")<{
  readonly message: string
  /** As in `Unauthorized`, with the scopes that are needed. */
  readonly challenge: string
}> {}

/** Nobody can say now whether the access token is valid: the keys of its issuer cannot be read. */
export class IssuerUnavailable extends Data.TaggedError("IssuerUnavailable")<{
  readonly message: string
  /** When the client may try again. */
  readonly retryAfterSeconds: number
}> {}

/** Why a request is not served. */
export type NotIdentified = Unauthorized | InsufficientScope | IssuerUnavailable

/** Verifies bearer tokens that the server does not know itself, such as the access tokens of an issuer. */
export interface TokenVerifier {
  /** The principal of a token. */
  readonly identify: (token: string) => Effect.Effect<string, NotIdentified>
  /** Members of `WWW-Authenticate` that say where to get a token, such as `resource_metadata="…"`. */
  readonly challenge: string
}

/** Where the tokens come from that a server accepts. */
export interface TokenSources {
  /** The tokens that the server knows, read at each request. */
  readonly tokens: Effect.Effect<ReadonlyArray<KnownToken>>
  /** Verifies all other tokens. Without it they are not valid. */
  readonly verifier?: TokenVerifier
}

/** A token that the server accepts. */
export interface KnownToken {
  /** SHA-256 of the token, as 64 hexadecimal digits: the token itself is not kept. */
  readonly sha256: string
  readonly principal: string
}

/** Finds the principal of a request. */
export class Principals extends Context.Service<
  Principals,
  {
    /** The principal; fails if the request does not say for whom it acts in a way that the server accepts. */
    readonly identify: (
      headers: Readonly<Record<string, string | undefined>>,
    ) => Effect.Effect<string, NotIdentified>
  }
>()("@colloquy/transport-http/Principals") {
  /** Accepts `Authorization: Bearer` with one of the tokens. */
  static readonly layerTokens = (tokens: ReadonlyArray<KnownToken>): Layer.Layer<Principals> =>
    Principals.layerOf({ tokens: Effect.succeed(tokens) })

  /** Accepts `Authorization: Bearer` with a token of one of the sources. */
  static readonly layerOf = (sources: TokenSources): Layer.Layer<Principals> =>
    Layer.succeed(this, { identify: identifyBy(sources) })

  /**
   * Accepts every request, on behalf of the user who started the process. For a server whose port only that user can reach,
   * such as one behind a proxy that authenticates.
   */
  static readonly layerLocal: Layer.Layer<Principals> = Layer.succeed(this, {
    identify: () => Effect.succeed(localPrincipal),
  })
}

const realm = 'Bearer realm="colloquy"'

/** The syntax of a bearer token (RFC 6750); the name of the scheme has no case. */
const bearer = /^bearer +([\w.~+/-]+=*) *$/i

const digest = (token: string): Buffer => hash("sha256", token, "buffer")

/** The principal of a known token. Compares with every one, so that the time does not say which one was nearest. */
const principalOf = (token: string, known: ReadonlyArray<KnownToken>): string | undefined => {
  const given = digest(token)
  let found: string | undefined
  for (const { principal, sha256 } of known) {
    const expected = Buffer.from(sha256, "hex")
    if (expected.length === given.length && timingSafeEqual(expected, given)) found = principal
  }
  return found
}

const identifyBy = ({ tokens, verifier }: TokenSources): Principals["Service"]["identify"] => {
  const challenge = verifier === undefined ? realm : `${realm}, ${verifier.challenge}`
  const unauthorized = (message: string, error?: string) =>
    new Unauthorized({
      message,
      challenge: error === undefined ? challenge : `${challenge}, error="${error}"`,
    })
  return ({ authorization }) =>
    Effect.suspend(() => {
      if (authorization === undefined) return unauthorized("expected a bearer token")
      const token = bearer.exec(authorization)?.[1]
      if (token === undefined) {
        return unauthorized("expected `Authorization: Bearer <token>`", "invalid_request")
      }
      return Effect.flatMap(tokens, (known): Effect.Effect<string, NotIdentified> => {
        const principal = principalOf(token, known)
        if (principal !== undefined) return Effect.succeed(principal)
        return (
          verifier?.identify(token) ??
          unauthorized("the bearer token is not valid", "invalid_token")
        )
      })
    })
}

/** What the server keeps of a token. */
export const knownToken = (token: string, principal: string): KnownToken => ({
  sha256: digest(token).toString("hex"),
  principal,
})
