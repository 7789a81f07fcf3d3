/** The routes of MCP over HTTP as one layer. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { McpSessionsOptions, Serve } from "./McpSessions.ts"
import * as StreamableHttp from "./StreamableHttp.ts"

/** What the routes need besides the program that serves a connection. */
export interface McpRoutesOptions extends McpSessionsOptions {
  /** On whose behalf a request is made. The guard in front of the routes has authenticated it. */
  readonly principalOf: (request: HttpServerRequest.HttpServerRequest) => string
  /** Path of Streamable HTTP. Default `/mcp`. */
  readonly path?: HttpRouter.PathInput
}

/** Serves Streamable HTTP on the router. `serve` is the program of one connection, such as `McpServer.serve`. */
export const layer = <R>(
  serve: Serve<R>,
  { path = "/mcp", principalOf, ...options }: McpRoutesOptions,
) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const context = yield* Effect.context<R>()
      const endpoint = yield* StreamableHttp.make(
        (connection) => Effect.provideContext(serve(connection), context),
        options,
      )
      yield* router.add("*", path, (request) => endpoint.handle(request, principalOf(request)))
    }),
  )
