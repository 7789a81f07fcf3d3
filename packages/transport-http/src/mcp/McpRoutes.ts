/** The routes of MCP over HTTP as one layer. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { McpSessionsOptions, Serve } from "./McpSessions.ts"
import * as SseTransport from "./SseTransport.ts"
import * as StreamableHttp from "./StreamableHttp.ts"

/** What the routes need besides the program that serves a connection. */
export interface McpRoutesOptions extends McpSessionsOptions {
  /** On whose behalf a request is made. The guard in front of the routes has authenticated it. */
  readonly principalOf: (request: HttpServerRequest.HttpServerRequest) => string
  /** Path of Streamable HTTP. Default `/mcp`. */
  readonly path?: HttpRouter.PathInput
  /** Paths of the transport of 2024-11-05: its stream, and its messages. Default `/sse` and `/messages`. */
  readonly ssePath?: HttpRouter.PathInput
  readonly messagesPath?: HttpRouter.PathInput
}

/** Serves Streamable HTTP, and HTTP with SSE, on the router. `serve` is the program of one connection, such as `McpServer.serve`. */
export const layer = <R>(
  serve: Serve<R>,
  {
    messagesPath = "/messages",
    path = "/mcp",
    principalOf,
    ssePath = "/sse",
    ...options
  }: McpRoutesOptions,
) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const context = yield* Effect.context<R>()
      const provided: Serve = (connection) => Effect.provideContext(serve(connection), context)
      const endpoint = yield* StreamableHttp.make(provided, options)
      const sse = yield* SseTransport.make(provided, messagesPath, options)
      yield* router.add("*", path, (request) => endpoint.handle(request, principalOf(request)))
      yield* router.add("GET", ssePath, (request) => sse.open(request, principalOf(request)))
      yield* router.add("POST", messagesPath, (request) => sse.post(request, principalOf(request)))
    }),
  )
