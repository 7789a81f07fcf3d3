/** The handlers of the `codex-mcp` dialect, one per method: the only table from methods to code. */
import { ConversationsView } from "../ConversationsView.ts"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import {
  Initialize,
  Cancelled,
  type CodexMcp,
  Initialized,
  Ping,
  ToolsCall,
  ToolsList,
} from "@colloquy/protocol/mcp/CodexMcp"
import { CodexReply } from "@colloquy/protocol/mcp/CodexTools"
import { Discover } from "@colloquy/protocol/mcp/Discover"
import { chosenTools, type ToolChoice } from "@colloquy/protocol/mcp/ServerTools"
import { SubscriptionsListen } from "@colloquy/protocol/mcp/Subscriptions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import type { Dialect, Handlers, Params, ResultOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import type { NotificationCaller } from "../jsonrpc/Caller.ts"
import * as ConnectionState from "./ConnectionState.ts"
import { featureHandlers, notifiedOfChanges } from "./catalog/FeatureHandlers.ts"
import { initialize } from "./methods/Initialize.ts"
import { handshakeCapabilities } from "./methods/InitializeResult.ts"
import { notificationsCancelled } from "./methods/NotificationsCancelled.ts"
import { notificationsInitialized } from "./methods/NotificationsInitialized.ts"
import { type OfferedTools, offeredTools } from "./catalog/OfferedTools.ts"
import { ownTools } from "./codex/OwnTools.ts"
import { ping } from "./methods/Ping.ts"
import type { CoreHandler } from "./RequestContext.ts"
import { headerFault, type Headers } from "./eras/Headers.ts"
import type { RouterOptions } from "./eras/Router.ts"
import { make as makeElicitations } from "./elicitation/Elicitations.ts"
import { make as makeStateless } from "./elicitation/stateless/StatelessElicitations.ts"
import { cancellation } from "./elicitation/stateless/Cancellation.ts"
import { serverCapabilities } from "./ServerCapabilities.ts"
import { serverDiscover } from "./methods/ServerDiscover.ts"
import type { ConnectionCatalog } from "./catalog/ConnectionCatalog.ts"
import type { Session } from "./Session.ts"
import { Subscriptions } from "./catalog/Subscriptions.ts"
import type { Server } from "../Server.ts"
import { streams } from "./conversation/Streams.ts"
import { detachedTurns } from "./elicitation/stateless/DetachedTurns.ts"
import { taskHandlers } from "./tasks/TaskHandlers.ts"
import { subscriptionsListen } from "./methods/SubscriptionsListen.ts"
import type { ThreadIdPlace } from "./codex/ToolResults.ts"
import { toolsCall } from "./methods/ToolsCall.ts"
import { toolsList } from "./methods/ToolsList.ts"
import type { VendorEvents } from "./codex/VendorEvents.ts"

type ClientMethods = typeof CodexMcp extends Dialect<infer C, infer _> ? C : never

/** The methods with a response: those that can fail. */
type Answered<M extends Rpc.Any> = M extends Rpc.Any
  ? [Rpc.Error<M>] extends [never]
    ? never
    : M
  : never
type Requests = Answered<ClientMethods>

/** The handlers of one MCP connection. */
export interface McpHandlers {
  /** One handler for every request of the dialect, of every revision. */
  readonly requests: {
    readonly [R in Requests as R["_tag"]]: CoreHandler<Params<R>, ResultOf<R>>
  }
  readonly notifications: Handlers<Exclude<ClientMethods, Requests>, NotificationCaller>
  /** Functions that the router calls when a request begins and when a resumed call is cancelled. */
  readonly routing: Pick<RouterOptions, "onRequest" | "cancelWork" | "headerFault">
}

/** What the handlers of one connection need. */
export interface HandlersOptions {
  readonly session: Session
  readonly serverInfo: ResultOf<typeof Initialize>["serverInfo"]
  readonly events: VendorEvents
  readonly served: ConnectionCatalog
  readonly server: Server["Service"]
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
  /** The headers that each stateless request of the connection came with; undefined over a transport without headers. */
  readonly headers: Headers | undefined
  readonly taskAfter?: Duration.Input | undefined
  readonly tools: ToolChoice
  readonly threadId: ThreadIdPlace
}

/** Compares a call of a tool with the headers that repeat its arguments. */
const toolHeaders =
  ({ callable }: OfferedTools, headers: Headers | undefined): RouterOptions["headerFault"] =>
  (request) => {
    if (headers === undefined || request.method !== ToolsCall._tag) return undefined
    const name = memberOf(request.params, "name")
    const tool = typeof name === "string" ? callable.get(name) : undefined
    return headerFault(headers, request, tool?.inputSchema)
  }

/** Creates the handlers of one connection. Their work ends with the current scope. */
export const make = Effect.fnUntraced(function* ({
  events,
  served,
  headers,
  principal,
  server,
  serverInfo,
  session,
  taskAfter,
  threadId,
  tools: choice,
}: HandlersOptions): Effect.fn.Return<McpHandlers, never, Scope.Scope> {
  const { tasks } = server
  const conversations = server.conversations(principal)
  const chosen = chosenTools(choice)
  // The text of a result must not suggest `codex-reply` to a model when the setting leaves that tool out.
  const place = chosen.callable.has(CodexReply.name) ? threadId : "structured"
  const detached = yield* server.shared(detachedTurns)
  const connection = yield* ConnectionState.make({
    session,
    threadIdPlace: place,
    streams: yield* server.shared(streams),
    elicitations: yield* makeElicitations,
    statelessElicitations: (answered) => makeStateless(detached, answered),
  })
  const own = yield* ownTools(connection).pipe(
    Effect.provideService(ConversationsView, conversations),
    Effect.provideService(SettingsResolver, server.settings(principal)),
  )
  const tools = offeredTools(chosen, own, served.catalog.tools)
  const subscriptions = yield* Subscriptions.make(served.catalog)
  const stateless = () =>
    serverCapabilities({ events: events === "off" ? undefined : "extension", tasks: "extension" })
  return {
    requests: {
      [Initialize._tag]: initialize(session, serverInfo, () =>
        handshakeCapabilities(session.revision(), session.events()),
      ),
      [Discover._tag]: serverDiscover(stateless),
      [Ping._tag]: ping,
      [ToolsList._tag]: notifiedOfChanges(subscriptions, "tools")(toolsList(served, tools.listed)),
      [ToolsCall._tag]: yield* toolsCall(tools, tasks, taskAfter),
      ...(yield* taskHandlers(tasks, served.cursors)),
      ...featureHandlers(served, session, subscriptions),
      [SubscriptionsListen._tag]: subscriptionsListen(served.catalog, stateless, tasks),
    },
    notifications: {
      [Initialized._tag]: notificationsInitialized,
      [Cancelled._tag]: notificationsCancelled(connection),
    },
    routing: {
      onRequest: (id, onCancel) => {
        if (onCancel === undefined) {
          connection.answered.forget(id)
          return undefined
        }
        connection.answered.onCancel(id, onCancel)
        return () => connection.answered.forget(id, onCancel)
      },
      cancelWork: cancellation(conversations),
      headerFault: toolHeaders(tools, headers),
    },
  }
})
