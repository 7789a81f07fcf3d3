/** The routes of MCP over HTTP: Streamable HTTP, and the transport of 2024-11-05. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { principal } from "../guard/Guard.ts"
import type { McpSessionsOptions, Serve } from "./McpSessions.ts"
import * as SseTransport from "./SseTransport.ts"
import * as StreamableHttp from "./StreamableHttp.ts"

/** What the routes need besides the program that serves a connection. */
export interface McpRoutesOptions extends McpSessionsOptions {
  /** Path of Streamable HTTP. Default `/mcp`. */
  readonly path?: HttpRouter.PathInput
  /** Path of the stream of 2024-11-05. Default `/sse`. */
  readonly ssePath?: HttpRouter.PathInput
  /** Path of the messages of 2024-11-05. Default `/messages`. */
  readonly messagesPath?: HttpRouter.PathInput
}

/**
 * Serves the routes on the router; the end of the layer's scope ends every session. Each request is served on behalf of the
 * principal that `guarded` has found, so a layer without a guard serves nobody.
 *
 *     guarded(McpRoutes.layer(McpServer.serve))
 *
 * @param serve the program of one connection
 */
export const layer = <R>(serve: Serve<R>, options: McpRoutesOptions = {}) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { messagesPath = "/messages", path = "/mcp", ssePath = "/sse", ...limits } = options
      const context = yield* Effect.context<R>()
      const provided: Serve = (connection) => Effect.provideContext(serve(connection), context)
      const endpoint = yield* StreamableHttp.make(provided, limits)
      const sse = yield* SseTransport.make(provided, messagesPath, limits)
      const forPrincipal =
        <A, R1>(
          respond: (
            request: HttpServerRequest.HttpServerRequest,
            principal: string,
          ) => Effect.Effect<A, never, R1>,
        ) =>
        (request: HttpServerRequest.HttpServerRequest) =>
          Effect.flatMap(principal, (name) => respond(request, name))
      yield* router.add("*", path, forPrincipal(endpoint.handle))
      yield* router.add("GET", ssePath, forPrincipal(sse.open))
      yield* router.add("POST", messagesPath, forPrincipal(sse.post))
    }),
  )
