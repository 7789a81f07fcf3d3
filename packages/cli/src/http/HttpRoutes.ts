/**
 * The routes of a server that listens on a port:
 *
 * | served | routes |
 * | --- | --- |
 * | everything | `/mcp`, `/sse`, `/messages`, `/ws`, `/v1/…`; 404 or 405 at other paths |
 * | MCP | `/mcp`, `/sse`, `/messages`; 404 or 405 at other paths |
 * | the app-server | a WebSocket at any path; 405 for other methods |
 *
 * and in each case `/metrics`, and `/healthz`, `/readyz` and, with an issuer of access tokens,
 * `/.well-known/oauth-protected-resource`, which need no token. Cross-origin requests are answered for configured origins only.
 */
import { prometheusName } from "@colloquy/core/telemetry/Metrics"
import * as AppServer from "@colloquy/server/AppServer"
import * as McpServer from "@colloquy/server/McpServer"
import { Draining } from "@colloquy/transport-http/guard/Draining"
import { guarded, type GuardOptions } from "@colloquy/transport-http/guard/Guard"
import * as ResourceMetadata from "@colloquy/transport-http/auth/ResourceMetadata"
import * as McpRoutes from "@colloquy/transport-http/mcp/McpRoutes"
import * as HealthRoutes from "@colloquy/transport-http/ops/HealthRoutes"
import * as MetricsRoute from "@colloquy/transport-http/ops/MetricsRoute"
import * as UnknownRoutes from "@colloquy/transport-http/ops/UnknownRoutes"
import * as TraceContext from "@colloquy/transport-http/ops/TraceContext"
import * as PlainRoutes from "@colloquy/transport-http/v1/PlainRoutes"
import * as WebSocketRoute from "@colloquy/transport-http/ws/WebSocketRoute"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type { Served } from "../args/Args.ts"
import type { HttpOptions } from "../args/HttpOptions.ts"
import type { ListenAddress } from "../args/Addresses.ts"
import { appServerOptions } from "../server/AppServerOptions.ts"
import { mcpOptions } from "../server/ServeMcp.ts"
import type { Started } from "../server/Started.ts"
import { accessTokenOptions } from "./AccessTokenSettings.ts"
import { ownHosts } from "./BindPolicy.ts"

/** What the routes depend on. */
export interface HttpRoutesOptions {
  readonly served: Served
  readonly address: ListenAddress
  readonly options: HttpOptions
  readonly started: Started
}

const mcp = ({ options, started }: HttpRoutesOptions) =>
  Layer.unwrap(
    Effect.map(mcpOptions(started), (mcpServer) =>
      McpRoutes.layer((connection) => McpServer.serve(connection, mcpServer), {
        ...(options.max_sessions === undefined ? {} : { maxSessions: options.max_sessions }),
        ...(options.session_idle_ms === undefined ? {} : { idleTimeout: options.session_idle_ms }),
        ...(options.close_streams_after_ms === undefined || options.close_streams_after_ms === 0
          ? {}
          : { closeStreamsAfter: options.close_streams_after_ms }),
      }),
    ),
  )

const webSocket = (path: HttpRouter.PathInput, { started }: HttpRoutesOptions) =>
  WebSocketRoute.layer(path, (connection) => AppServer.serve(connection, appServerOptions(started)))

const dialects = (of: HttpRoutesOptions) => {
  switch (of.served) {
    case "all":
      return Layer.mergeAll(mcp(of), webSocket("/ws", of), PlainRoutes.layer, UnknownRoutes.layer)
    case "mcp":
      return Layer.merge(mcp(of), UnknownRoutes.layer)
    case "app-server":
      return webSocket("*", of)
  }
}

const health = Layer.unwrap(
  Effect.map(Draining, ({ isRefusing }) =>
    HealthRoutes.layer(Effect.sync(() => (isRefusing() ? "closing" : undefined))),
  ),
)

const metadata = (options: HttpOptions) => {
  const accessTokens = accessTokenOptions(options)
  return accessTokens === undefined ? Layer.empty : ResourceMetadata.layer(accessTokens)
}

/** Headers of MCP that a page of another origin may read. */
const exposedHeaders = ["mcp-session-id", "retry-after", "www-authenticate"]

const crossOrigin = ({ origins = [] }: HttpOptions) =>
  origins.length === 0
    ? Layer.empty
    : HttpRouter.cors({ allowedOrigins: origins, exposedHeaders, maxAge: 600 })

/** The routes, each with the guard in front. */
export const routes = (of: HttpRoutesOptions) => {
  const { address, options } = of
  const guard: GuardOptions = {
    addresses: {
      hosts: [...ownHosts(address), ...(options.hosts ?? [])],
      origins: options.origins ?? [],
    },
    ...(options.max_body_bytes === undefined ? {} : { maxBodyBytes: options.max_body_bytes }),
  }
  return Layer.mergeAll(
    guarded(Layer.merge(dialects(of), MetricsRoute.layer({ nameOf: prometheusName })), guard),
    TraceContext.layer,
    guarded(health, { ...guard, isPublic: true }),
    guarded(metadata(options), { ...guard, isPublic: true }),
    crossOrigin(options),
  )
}
