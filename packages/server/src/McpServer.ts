/** Serves the `codex-mcp` dialect on one connection. Opens nothing: the connection is given. */
import type { Connection, ConnectionPeer } from "@colloquy/protocol/Connection"
import type { Request } from "@colloquy/protocol/JsonRpc"
import { Cancelled, CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolChoice } from "@colloquy/protocol/mcp/ServerTools"
import { methodsOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type FindDialect, unknownMethodRoute } from "./jsonrpc/ForeignMethod.ts"
import { makeConnectionCatalog } from "./mcp/catalog/MakeConnectionCatalog.ts"
import { make as makeHandlers } from "./mcp/McpHandlers.ts"
import type { Members } from "./mcp/RequestContext.ts"
import { requestStates } from "./mcp/eras/RequestState.ts"
import * as Router from "./mcp/eras/Router.ts"
import * as Session from "./mcp/Session.ts"
import type { ThreadIdPlace } from "./mcp/codex/ToolResults.ts"
import type { VendorEvents } from "./mcp/codex/VendorEvents.ts"
import { make as makePeer } from "./jsonrpc/Peer.ts"
import { isMethodNotFound, type Route } from "./jsonrpc/Route.ts"
import { Server } from "./Server.ts"

/** Options of one connection of the MCP server. Every one has a default. */
export interface McpServerOptions {
  /** What `serverInfo.version` says. */
  readonly version?: string
  /** How long turns may go on after end of input. Default 500 ms. */
  readonly shutdownGrace?: Duration.Input
  /** Requests served at once. Default 1,024. */
  readonly maxInFlight?: number
  /**
   * The events of a call's turn, beside its result: `on` (default) as `codex/event`; `always` also to requests of 2026-07-28
   * that do not ask for them; `twice` also under their bare names, as 0.20 sent them; `off`. A client declines them by
   * `capabilities.experimental["codex/event"]`, and a request of 2026-07-28 asks for them by that or by the extension
   * `colloquy/codex-event`.
   */
  readonly events?: VendorEvents
  /** Which of the server's own tools are listed and can be called. Default `default`. */
  readonly ownTools?: ToolChoice
  /** Where a result of `codex` and `codex-reply` has the id of its conversation. Default `content`. */
  readonly threadId?: ThreadIdPlace
  /**
   * Another vocabulary on the same connection, by what the client declared: serves the requests that it knows, alone of
   * their line, before MCP sees them.
   */
  readonly beside?: (
    capabilities: () => Members,
    peer: ConnectionPeer,
  ) => Effect.Effect<(request: Request) => Route | undefined, never, Server | Scope.Scope>
  /** Names the dialect that an unknown method belongs to, for its error. Default: the error names the method alone. */
  readonly findDialect?: FindDialect
  /**
   * How long a call of a client of 2026-07-28 that declares tasks waits for its result before it is answered with a task;
   * a question to the client makes it a task earlier. 0: a task at once, infinity: no task before a question. Clients of
   * 2025-11-25 ask for a task themselves and get it at once. Default 20 seconds.
   */
  readonly taskAfter?: Duration.Input
  /** Items of one page of a list. Default 100. */
  readonly pageSize?: number
}

/**
 * Serves until end of input. Requests then in flight have `shutdownGrace` to be answered; what is left is stopped
 * and answered with an error (L9). Returns when everything has been flushed, or the client no longer reads. Cursors,
 * request states and tasks that clients got on one connection are valid on all connections of the same `Server`, for the
 * same principal.
 */
export const serve = (
  connection: Connection,
  options: McpServerOptions = {},
): Effect.Effect<void, never, Server> =>
  Effect.scoped(
    Effect.gen(function* () {
      const events = options.events ?? "on"
      const serverInfo = {
        name: "colloquy",
        title: "Colloquy",
        version: options.version ?? "0.0.0",
      }
      const session = Session.make(events)
      const server = yield* Server
      const { principal } = connection.peer
      const served = yield* makeConnectionCatalog(server, options.pageSize)
      const handlers = yield* makeHandlers({
        session,
        serverInfo,
        events,
        server,
        principal,
        served,
        taskAfter: options.taskAfter,
        tools: options.ownTools ?? "default",
        threadId: options.threadId ?? "content",
      })
      const router = Router.make({
        session,
        methods: methodsOf(CodexMcp.clientToServer),
        handlers: handlers.requests as Router.RouterOptions["handlers"],
        states: yield* server.shared(requestStates),
        ...handlers.hears,
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
      })
      yield* peer.run
    }),
  )
