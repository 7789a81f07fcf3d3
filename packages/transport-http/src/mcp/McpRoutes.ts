/** The routes of MCP over HTTP: Streamable HTTP, and the transport of 2024-11-05. */
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as Scope from "effect/Scope"
import type { Guard } from "../guard/Guard.ts"
import * as Routes from "../guard/Routes.ts"
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

/** The routes as rows of the table; the end of the scope ends every session. */
export const table = <R>(
  serve: Serve<R>,
  options: McpRoutesOptions = {},
): Effect.Effect<ReadonlyArray<Routes.GuardedRoute>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const { messagesPath = "/messages", path = "/mcp", ssePath = "/sse", ...limits } = options
    const context = yield* Effect.context<R>()
    const provided: Serve = (connection) => Effect.provideContext(serve(connection), context)
    const endpoint = yield* StreamableHttp.make(provided, limits)
    const sse = yield* SseTransport.make(provided, messagesPath, limits)
    const routes: ReadonlyArray<Routes.GuardedRoute> = [
      { method: "*", path, respond: endpoint.handle },
      { method: "GET", path: ssePath, respond: sse.open },
      { method: "POST", path: messagesPath, respond: sse.post },
    ]
    return routes
  })

/**
 * Serves the routes on the router, behind the guard.
 *
 * @param serve the program of one connection, such as `McpServer.serve`
 */
export const layer = <R>(guard: Guard, serve: Serve<R>, options?: McpRoutesOptions) =>
  Routes.layer(guard, table(serve, options))
