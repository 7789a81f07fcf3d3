/** Serves the `codex-mcp` dialect on one connection, which the caller has opened. */
import type { Connection, ConnectionPeer } from "@colloquy/protocol/Connection"
import type { Request } from "@colloquy/protocol/JsonRpc"
import { Cancelled, CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import type { InitializeParams } from "@colloquy/protocol/mcp/Initialize"
import type { ToolChoice } from "@colloquy/protocol/mcp/ServerTools"
import { methodsOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type FindDialect, unknownMethodRoute } from "./jsonrpc/ForeignMethod.ts"
import { ConnectionHandlers } from "./mcp/ConnectionHandlers.ts"
import type { Members } from "./mcp/RequestContext.ts"
import { requestStates } from "./mcp/eras/RequestState.ts"
import * as Router from "./mcp/eras/Router.ts"
import { defaultEvents, serverInfoOf, type ServerName } from "./mcp/methods/InitializeResult.ts"
import * as Session from "./mcp/Session.ts"
import type { ThreadIdPlace } from "./mcp/codex/ToolResults.ts"
import type { VendorEvents } from "./mcp/codex/VendorEvents.ts"
import { make as makePeer } from "./jsonrpc/Peer.ts"
import { withCaller } from "./jsonrpc/TraceContext.ts"
import { isMethodNotFound, type Route } from "./jsonrpc/Route.ts"
import { Server } from "./Server.ts"

/** Options of one connection of the MCP server. Every one has a default. */
export interface McpServerOptions {
  /** Value of `serverInfo.version`. Default `0.0.0`. */
  readonly version?: string
  /** Name and title in `serverInfo`, for a program that serves its own tools. Default: those of Colloquy. */
  readonly serverName?: ServerName
  /** How long requests in flight may continue after the end of input. Default 500 ms. */
  readonly shutdownGrace?: Duration.Input
  /**
   * True: the process ends with this connection. Its conversations end before it, so that the client is sent how their
   * turns have ended. Default false: they stay in their manager.
   */
  readonly endsConversations?: boolean
  /** Largest number of requests served at once. Default 1,024. */
  readonly maxInFlight?: number
  /**
   * Which events of a call's turn are sent besides its result. `on` (default): as `codex/event`. `always`: also for
   * requests of 2026-07-28 that do not request them. `twice`: also under their bare names, as version 0.20 sent them.
   * `off`: none. A client declines them by `capabilities.experimental["codex/event"]`; a request of 2026-07-28 requests
   * them by that capability or by the extension `colloquy/codex-event`.
   */
  readonly events?: VendorEvents
  /** Which of the server's own tools are listed and can be called. Default `default`. */
  readonly ownTools?: ToolChoice
  /** Where a result of `codex` and `codex-reply` contains the id of its conversation. Default `content`. */
  readonly threadId?: ThreadIdPlace
  /**
   * Another dialect on the same connection. It gets the client's capabilities, and is looked up before MCP for every
   * request that is not part of a batch. It returns undefined for requests that it does not have. Default: none.
   */
  readonly beside?: (
    capabilities: () => Members,
    peer: ConnectionPeer,
  ) => Effect.Effect<(request: Request) => Route | undefined, never, Server | Scope.Scope>
  /** Names the dialect that an unknown method belongs to, for its error. Default: the error names the method alone. */
  readonly findDialect?: FindDialect
  /**
   * How long a call waits for its result before the server responds with a task, for clients of 2026-07-28 that declare
   * tasks. A question to the client makes the call a task earlier. 0: a task at once; infinity: no task before a
   * question. Clients of 2025-11-25 request a task themselves and get it at once. Default 20 seconds.
   */
  readonly taskAfter?: Duration.Input
  /** Params of the `initialize` that `EarlyHandshake` answered on this connection, with the same options. Default: none. */
  readonly initializeParams?: InitializeParams
  /** Largest number of items on one page of a list. Default 100. */
  readonly pageSize?: number
}

/**
 * Serves until the end of input. Requests in flight then have `shutdownGrace` to complete; the others are stopped and
 * get an error (L9). Resolves when everything has been flushed, or when the client has stopped reading. Cursors,
 * request states and tasks that clients got on one connection are valid on all connections of the same `Server`, for
 * the same principal.
 */
export const serve = (
  connection: Connection,
  options: McpServerOptions = {},
): Effect.Effect<void, never, Server> =>
  Effect.scoped(
    Effect.gen(function* () {
      const events = options.events ?? defaultEvents
      const serverInfo = serverInfoOf(options.version, options.serverName)
      const session = Session.make(events)
      if (options.initializeParams !== undefined) session.initialize(options.initializeParams)
      const server = yield* Server
      const { principal } = connection.peer
      const handlers = new ConnectionHandlers(
        {
          session,
          serverInfo,
          events,
          server,
          principal,
          headers: connection.peer.headers,
          pageSize: options.pageSize,
          taskAfter: options.taskAfter,
          tools: options.ownTools ?? "default",
          threadId: options.threadId ?? "content",
        },
        yield* Effect.context<Scope.Scope>(),
      )
      const router = Router.make({
        session,
        methods: methodsOf(CodexMcp.clientToServer),
        handlerOf: (method) => handlers.handlerOf(method),
        states: yield* server.shared(requestStates),
        onRequest: handlers.onRequest,
        cancelWork: handlers.cancelWork,
        headerFault: handlers.headerFault,
        serverInfo,
        principal,
      })
      const beside = yield* (
        options.beside?.(() => session.client()?.capabilities ?? {}, connection.peer) ??
          Effect.succeed(undefined)
      )
      const peer = yield* makePeer({
        connection,
        local: CodexMcp.clientToServer,
        handlers: handlers.notifications,
        ...router,
        route: (request, batched) => {
          const found = (batched ? undefined : beside?.(request)) ?? router.route(request, batched)
          return isMethodNotFound(found)
            ? unknownMethodRoute({
                method: request.method,
                spoken: CodexMcp.name,
                find: options.findDialect,
                error: found,
              })
            : found
        },
        withdraw: ({ notify }, requestId) => notify(Cancelled, [{ requestId }]),
        ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
        ...(options.shutdownGrace === undefined ? {} : { shutdownGrace: options.shutdownGrace }),
        ...(options.endsConversations === true ? { beforeEnd: server.shutdown } : {}),
      })
      yield* peer.run
    }),
  ).pipe(withCaller(connection.peer.headers?.["traceparent"]))
