/**
 * The metadata of a protected resource (RFC 9728), from which a client learns whose access tokens the server accepts. MCP
 * requires it, and the challenge of a refused request that names it. It is no secret, so it is served without a principal.
 */
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"

const wellKnown = "/.well-known/oauth-protected-resource"

const pathOf = (resource: string): string => {
  const { pathname } = new URL(resource)
  return pathname === "/" ? "" : pathname.replace(/\/$/, "")
}

/** The members of `WWW-Authenticate` that say where the metadata is, and which scopes a token needs. */
export const challengeOf = (resource: string, scopes: ReadonlyArray<string>): string => {
  const metadata = `${new URL(resource).origin}${wellKnown}${pathOf(resource)}`
  const scope = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`
  return `resource_metadata="${metadata}"${scope}`
}

/** What the metadata says. */
export interface ResourceMetadataOptions {
  /** The address under which clients reach what is protected, such as `https://example.org/mcp`. */
  readonly resource: string
  readonly issuer: string
  readonly scopes?: ReadonlyArray<string>
}

/** Serves the metadata at the well-known address, and at that with the path of the resource behind it. */
export const layer = ({
  issuer,
  resource,
  scopes = [],
}: ResourceMetadataOptions): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const response = HttpServerResponse.jsonUnsafe(
    {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      resource_name: "Colloquy",
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    },
    { headers: { "cache-control": "max-age=300" } },
  )
  const paths = new Set([wellKnown, `${wellKnown}${pathOf(resource)}`] as const)
  return HttpRouter.addAll(
    [...paths].map((path) => HttpRouter.route("GET", path as HttpRouter.PathInput, response)),
  )
}
