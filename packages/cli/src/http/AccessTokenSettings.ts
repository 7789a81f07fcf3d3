/** The issuer of access tokens, as the table `http` of the configuration names it. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import {
  type AccessTokenOptions,
  make,
  optionsProblem,
} from "@colloquy/transport-http/auth/AccessTokens"
import { type KnownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { HttpOptions } from "../args/HttpOptions.ts"
import type { PrincipalsFile } from "./PrincipalsFile.ts"

/** The issuer whose access tokens are accepted; undefined if there is none. */
export const accessTokenOptions = ({
  oauth_audience: audience,
  oauth_issuer: issuer,
  oauth_jwks_uri: jwksUri,
  oauth_resource: resource,
  oauth_scopes: scopes,
}: HttpOptions): AccessTokenOptions | undefined =>
  issuer === undefined || resource === undefined
    ? undefined
    : {
        issuer,
        resource,
        ...(audience === undefined ? {} : { audience }),
        ...(jwksUri === undefined ? {} : { jwksUri }),
        ...(scopes === undefined ? {} : { scopes }),
      }

/** Why the keys about access tokens cannot be used, in one line; undefined if they can. */
export const accessTokenProblem = (options: HttpOptions): string | undefined => {
  const {
    authentication = "token",
    oauth_audience: audience,
    oauth_issuer: issuer,
    oauth_jwks_uri: jwksUri,
    oauth_resource: resource,
    oauth_scopes: scopes,
  } = options
  const isConfigured = [audience, issuer, jwksUri, resource, scopes].some(
    (value) => value !== undefined,
  )
  if (!isConfigured) return undefined
  if (authentication !== "token") {
    return '`http.oauth_issuer` needs `http.authentication = "token"`'
  }
  const accessTokens = accessTokenOptions(options)
  if (accessTokens === undefined)
    return "`http.oauth_issuer` and `http.oauth_resource` need each other"
  const problem = optionsProblem(accessTokens)
  return problem === undefined ? undefined : `\`http.oauth_${problem.field}\`: ${problem.message}`
}

/** Accepts the token of the user of the server, those of the file, and those of the issuer if there is one. */
export const principalsOf = (
  options: HttpOptions,
  own: KnownToken,
  file: PrincipalsFile | undefined,
): Layer.Layer<Principals> => {
  const tokens =
    file === undefined ? Effect.succeed([own]) : Effect.map(file.tokens, (known) => [own, ...known])
  const accessTokens = accessTokenOptions(options)
  if (accessTokens === undefined) return Principals.layerOf({ tokens })
  return Layer.unwrap(
    // `accessTokenProblem` has checked the options.
    Effect.map(Effect.orDie(make(accessTokens)), (verifier) =>
      Principals.layerOf({ tokens, verifier }),
    ),
  ).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
}
