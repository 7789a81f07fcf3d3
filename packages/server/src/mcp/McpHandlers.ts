/**
 * The handlers of the `codex-mcp` dialect, one per method: the only table from methods to code, but for those that keep
 * nothing (`ConnectionHandlers`).
 */
import { ConversationsView } from "../ConversationsView.ts"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import {
  type CodexMcp,
  type Initialize,
  type Ping,
  ToolsCall,
  ToolsList,
} from "@colloquy/protocol/mcp/CodexMcp"
import { CodexReply } from "@colloquy/protocol/mcp/CodexTools"
import { Discover } from "@colloquy/protocol/mcp/Discover"
import { chosenTools, type ToolChoice } from "@colloquy/protocol/mcp/ServerTools"
import { SubscriptionsListen } from "@colloquy/protocol/mcp/Subscriptions"
import type { Dialect, Handlers, Params, ResultOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import type { NotificationCaller } from "../jsonrpc/Caller.ts"
import type { AnsweredCalls } from "./AnsweredCalls.ts"
import { makeConnectionCatalog } from "./catalog/MakeConnectionCatalog.ts"
import * as ConnectionState from "./ConnectionState.ts"
import { featureHandlers, notifiedOfChanges } from "./catalog/FeatureHandlers.ts"
import { offeredTools } from "./catalog/OfferedTools.ts"
import { ownTools } from "./codex/OwnTools.ts"
import type { CoreHandler } from "./RequestContext.ts"
import { make as makeElicitations } from "./elicitation/Elicitations.ts"
import { make as makeStateless } from "./elicitation/stateless/StatelessElicitations.ts"
import { serverCapabilities } from "./ServerCapabilities.ts"
import { serverDiscover } from "./methods/ServerDiscover.ts"
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

/** The requests whose handlers keep something, or need what others keep. */
type Requests = Exclude<Answered<ClientMethods>, typeof Initialize | typeof Ping>

/** One handler for every request of the dialect, of every revision, but `initialize` and `ping`. */
export type McpHandlers = {
  readonly [R in Requests as R["_tag"]]: CoreHandler<Params<R>, ResultOf<R>>
}

/** The handlers of the notifications. */
export type NotificationHandlers = Handlers<
  Exclude<ClientMethods, Answered<ClientMethods>>,
  NotificationCaller
>

/** What the handlers of one connection need. */
export interface HandlersOptions {
  readonly session: Session
  readonly events: VendorEvents
  readonly server: Server["Service"]
  /** The calls of the connection that have their response already. */
  readonly answered: AnsweredCalls
  /** Items per page of a list. */
  readonly pageSize: number | undefined
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
  readonly taskAfter?: Duration.Input | undefined
  readonly tools: ToolChoice
  readonly threadId: ThreadIdPlace
}

const connectionState = Effect.fnUntraced(function* (
  { answered, server, session }: Pick<HandlersOptions, "answered" | "server" | "session">,
  threadIdPlace: ThreadIdPlace,
) {
  const detached = yield* server.shared(detachedTurns)
  return yield* ConnectionState.make({
    session,
    answered,
    threadIdPlace,
    streams: yield* server.shared(streams),
    elicitations: yield* makeElicitations,
    statelessElicitations: makeStateless(detached, answered),
  })
})

/** Creates the handlers of one connection. Their work ends with the current scope. */
export const make = Effect.fnUntraced(function* ({
  answered,
  events,
  pageSize,
  principal,
  server,
  session,
  taskAfter,
  threadId,
  tools: choice,
}: HandlersOptions): Effect.fn.Return<McpHandlers, never, Scope.Scope> {
  const { tasks } = server
  const served = yield* makeConnectionCatalog(server, pageSize)
  const conversations = server.conversations(principal)
  const chosen = chosenTools(choice)
  // The text of a result must not suggest `codex-reply` to a model when the setting leaves that tool out.
  const place = chosen.callable.has(CodexReply.name) ? threadId : "structured"
  const connection = yield* connectionState({ answered, server, session }, place)
  const own = yield* ownTools(connection).pipe(
    Effect.provideService(ConversationsView, conversations),
    Effect.provideService(SettingsResolver, server.settings(principal)),
  )
  const tools = offeredTools(chosen, own, served.catalog.tools)
  const subscriptions = yield* Subscriptions.make(served.catalog)
  const stateless = () =>
    serverCapabilities({ events: events === "off" ? undefined : "extension", tasks: "extension" })
  return {
    [Discover._tag]: serverDiscover(stateless),
    [ToolsList._tag]: notifiedOfChanges(subscriptions, "tools")(toolsList(served, tools.listed)),
    [ToolsCall._tag]: yield* toolsCall(tools, tasks, taskAfter),
    ...(yield* taskHandlers(tasks, served.cursors)),
    ...featureHandlers(served, session, subscriptions),
    [SubscriptionsListen._tag]: subscriptionsListen(served.catalog, stateless, tasks),
  }
})
