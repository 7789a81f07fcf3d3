/** Serves the `codex-mcp` dialect on one connection. Opens nothing: the connection is given. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { Connection } from "@colloquy/protocol/Connection"
import type { Request } from "@colloquy/protocol/JsonRpc"
import { Cancelled, CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolChoice } from "@colloquy/protocol/mcp/ServerTools"
import { methodsOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type FindDialect, unknownMethodRoute } from "./jsonrpc/ForeignMethod.ts"
import type { Features } from "./features/Features.ts"
import type { PromptFiles } from "./features/PromptFiles.ts"
import { makeServed } from "./mcp/catalog/MakeServed.ts"
import { make as makeHandlers } from "./mcp/McpHandlers.ts"
import type { Members } from "./mcp/RequestContext.ts"
import { requestStatesOf } from "./mcp/eras/RequestState.ts"
import * as Router from "./mcp/eras/Router.ts"
import * as Session from "./mcp/Session.ts"
import type { ThreadIdPlace } from "./mcp/codex/ToolResults.ts"
import type { VendorEvents } from "./mcp/codex/VendorEvents.ts"
import { make as makePeer } from "./jsonrpc/Peer.ts"
import { isMethodNotFound, type Route } from "./jsonrpc/Route.ts"
import { Sealer } from "./Sealer.ts"
import { Tasks } from "./tasks/Tasks.ts"

export interface McpServerOptions {
  /** What `serverInfo.version` says. */
  readonly version?: string
  /** Who connects, as the transport knows it. Default: one and the same, whoever started the process. */
  readonly principal?: string
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
  /** Tools, resources and prompts beside the server's own; what is added to it later is there at once. */
  readonly features?: Features
  /** Where prompts lie as files; they are looked at when somebody asks for prompts. */
  readonly prompts?: PromptFiles
  /**
   * Another vocabulary on the same connection, by what the client declared: serves the requests that it knows, alone of
   * their line, before MCP sees them.
   */
  readonly beside?: (
    capabilities: () => Members,
  ) => Effect.Effect<
    (request: Request) => Route | undefined,
    never,
    ConversationManager | SettingsResolver | Scope.Scope
  >
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
 * and answered with an error (L9). Returns when everything has been flushed, or nobody reads it any more. What it gives
 * to clients to keep is good for all connections that are given the same `Sealer`; without one, for this one. So are
 * tasks for those that are given the same `Tasks`.
 */
export const serve = (
  connection: Connection,
  options: McpServerOptions = {},
): Effect.Effect<void, never, ConversationManager | SettingsResolver> =>
  Effect.scoped(
    Effect.gen(function* () {
      const events = options.events ?? "on"
      const serverInfo = {
        name: "colloquy",
        title: "Colloquy",
        version: options.version ?? "0.0.0",
      }
      const session = Session.make(events)
      const shared = yield* Effect.serviceOption(Sealer)
      const sealer = Option.isSome(shared) ? shared.value : yield* Sealer.make
      const given = yield* Effect.serviceOption(Tasks)
      const served = yield* makeServed(options, yield* ConversationManager, sealer)
      const handlers = yield* makeHandlers({
        session,
        serverInfo,
        events,
        tasks: Option.isSome(given) ? given.value : yield* Tasks.make(),
        served,
        taskAfter: options.taskAfter,
        tools: options.ownTools ?? "default",
        threadId: options.threadId ?? "content",
      })
      const router = Router.make({
        session,
        methods: methodsOf(CodexMcp.clientToServer),
        handlers: handlers.requests as Router.RouterOptions["handlers"],
        states: requestStatesOf(sealer),
        ...handlers.hears,
        serverInfo,
        ...(options.principal === undefined ? {} : { principal: options.principal }),
      })
      const beside = yield* (
        options.beside?.(() => session.client()?.capabilities ?? {}) ?? Effect.succeed(undefined)
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
