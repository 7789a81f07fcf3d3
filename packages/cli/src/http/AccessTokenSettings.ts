/** The issuer of access tokens, as the table `http` of the configuration names it. */
import { ConfigFault } from "@colloquy/config/ConfigFault"
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

const accessTokenKeys = [
  "oauth_issuer",
  "oauth_resource",
  "oauth_audience",
  "oauth_jwks_uri",
  "oauth_scopes",
] as const

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

/** What is wrong with the keys about access tokens, in one line; undefined if they can be used. */
export const accessTokenFault = (options: HttpOptions): ConfigFault | undefined => {
  const { authentication = "token" } = options
  const key = accessTokenKeys.find((name) => options[name] !== undefined)
  if (key === undefined) return undefined
  const faultOf = (name: string, message: string) =>
    new ConfigFault({ key: `http.${name}`, message })
  if (authentication !== "token") {
    return faultOf("authentication", '`http.oauth_issuer` needs `http.authentication = "token"`')
  }
  const accessTokens = accessTokenOptions(options)
  if (accessTokens === undefined) {
    return faultOf(key, "`http.oauth_issuer` and `http.oauth_resource` need each other")
  }
  const problem = optionsProblem(accessTokens)
  if (problem === undefined) return undefined
  const name = `oauth_${problem.field}`
  return faultOf(name, `\`http.${name}\`: ${problem.message}`)
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
    // `accessTokenFault` has checked the options.
    Effect.map(Effect.orDie(make(accessTokens)), (verifier) =>
      Principals.layerOf({ tokens, verifier }),
    ),
  ).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
}
