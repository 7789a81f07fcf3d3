/** Says on whose behalf a request acts, by its headers. Knows no route. */
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash, timingSafeEqual } from "node:crypto"

/** A request acts for no principal: it has no credentials, or they are not valid. The message never contains them. */
export class Unauthorized extends Data.TaggedError("Unauthorized")<{
  readonly message: string
  /** Value of `WWW-Authenticate`: how to authenticate (RFC 6750). */
  readonly challenge: string
}> {}

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
    ) => Effect.Effect<string, Unauthorized>
  }
>()("@colloquy/transport-http/Principals") {
  /** Accepts `Authorization: Bearer` with one of the tokens. */
  static readonly layerTokens = (tokens: ReadonlyArray<KnownToken>): Layer.Layer<Principals> =>
    Layer.succeed(this, { identify: identifyBy(tokens) })

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

const digest = (token: string): Buffer => createHash("sha256").update(token).digest()

const identifyBy = (tokens: ReadonlyArray<KnownToken>): Principals["Service"]["identify"] => {
  const known = tokens.map(({ principal, sha256 }) => ({
    principal,
    hash: Buffer.from(sha256, "hex"),
  }))
  return ({ authorization }) =>
    Effect.suspend(() => {
      if (authorization === undefined) {
        return new Unauthorized({ message: "expected a bearer token", challenge: realm })
      }
      const token = bearer.exec(authorization)?.[1]
      if (token === undefined) {
        return new Unauthorized({
          message: "expected `Authorization: Bearer <token>`",
          challenge: `${realm}, error="invalid_request"`,
        })
      }
      const hash = digest(token)
      let principal: string | undefined
      // Compares with every token, so that the time does not say which one was nearest.
      for (const one of known) {
        if (one.hash.length === hash.length && timingSafeEqual(one.hash, hash)) {
          principal = one.principal
        }
      }
      return principal === undefined
        ? new Unauthorized({
            message: "the bearer token is not valid",
            challenge: `${realm}, error="invalid_token"`,
          })
        : Effect.succeed(principal)
    })
}

/** What the server keeps of a token. */
export const knownToken = (token: string, principal: string): KnownToken => ({
  sha256: digest(token).toString("hex"),
  principal,
})
