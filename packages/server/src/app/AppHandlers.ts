/**
 * The handlers of the dialect `app-server`, one per method: the only table from methods to code. Serves the requests of
 * one connection, also besides another dialect. Never depends on the transport.
 */
import { ConversationsView } from "../ConversationsView.ts"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError, Request } from "@colloquy/protocol/JsonRpc"
import * as Account from "@colloquy/protocol/app/Account"
import { AppServer } from "@colloquy/protocol/app/AppServer"
import * as Conversations from "@colloquy/protocol/app/Conversations"
import * as HostMethods from "@colloquy/protocol/app/Host"
import * as Messages from "@colloquy/protocol/app/Messages"
import type { ApprovalForm, ServerIdentity } from "@colloquy/protocol/app/Initialize"
import { GetUserAgent, Initialize } from "@colloquy/protocol/app/Session"
import { codecOf, type Dialect, methodsOf } from "@colloquy/protocol/Method"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import { Server } from "../Server.ts"
import type { Route } from "../jsonrpc/Route.ts"
import { accountRateLimitsRead } from "./methods/AccountRateLimitsRead.ts"
import { addConversationListener } from "./methods/AddConversationListener.ts"
import type { AppCall, AppHandler, AppServices } from "./AppCall.ts"
import * as AppConnection from "./AppConnection.ts"
import { badParams, notInitialized } from "./AppErrors.ts"
import { archiveConversation } from "./methods/ArchiveConversation.ts"
import { Auth } from "./ports/AuthPort.ts"
import { cancelLoginChatGpt } from "./methods/CancelLoginChatGpt.ts"
import { execOneOffCommand } from "./methods/ExecOneOffCommand.ts"
import { forkConversation } from "./methods/ForkConversation.ts"
import { fuzzyFileSearch } from "./methods/FuzzyFileSearch.ts"
import { getAuthStatus } from "./methods/GetAuthStatus.ts"
import { getConversation } from "./methods/GetConversation.ts"
import { getUserAgent } from "./methods/GetUserAgent.ts"
import { getUserSavedConfig } from "./methods/GetUserSavedConfig.ts"
import { gitDiffToRemote } from "./methods/GitDiffToRemote.ts"
import { HostPort } from "./ports/HostPort.ts"
import { initialize } from "./methods/Initialize.ts"
import { interruptConversation } from "./methods/InterruptConversation.ts"
import { listConversations } from "./methods/ListConversations.ts"
import { loginApiKey } from "./methods/LoginApiKey.ts"
import { loginChatGpt } from "./methods/LoginChatGpt.ts"
import { logoutChatGpt } from "./methods/LogoutChatGpt.ts"
import { modelList } from "./methods/ModelList.ts"
import { newConversation } from "./methods/NewConversation.ts"
import { removeConversationListener } from "./methods/RemoveConversationListener.ts"
import { resumeConversation } from "./methods/ResumeConversation.ts"
import { sendUserMessage } from "./methods/SendUserMessage.ts"
import { sendUserTurn } from "./methods/SendUserTurn.ts"
import { portsOf } from "./ports/PrincipalPorts.ts"
import { setDefaultModel } from "./methods/SetDefaultModel.ts"
import { UserConfig } from "./ports/UserConfigPort.ts"
import { userInfo } from "./methods/UserInfo.ts"

type ClientMethods = typeof AppServer extends Dialect<infer C, infer _> ? C : never

/** The methods with a response: those that can fail. */
type Requests<M extends Rpc.Any = ClientMethods> = M extends Rpc.Any
  ? [Rpc.Error<M>] extends [never]
    ? never
    : M
  : never

/** One handler for every request of the dialect. A missing handler, or one of another method, does not compile. */
type HandlerTable = { readonly [M in Requests as M["_tag"]]: AppHandler<M> }

/** A handler of the table, whatever its method. */
type AnyHandler = (
  params: never,
  call: AppCall,
) => Effect.Effect<unknown, JsonRpcError, AppServices>

const handlers: HandlerTable = {
  [Initialize._tag]: initialize,
  [GetUserAgent._tag]: getUserAgent,
  [Conversations.NewConversation._tag]: newConversation,
  [Conversations.ListConversations._tag]: listConversations,
  [Conversations.ResumeConversation._tag]: resumeConversation,
  [Conversations.ArchiveConversation._tag]: archiveConversation,
  [Conversations.ForkConversation._tag]: forkConversation,
  [Conversations.GetConversation._tag]: getConversation,
  [Messages.SendUserMessage._tag]: sendUserMessage,
  [Messages.SendUserTurn._tag]: sendUserTurn,
  [Messages.InterruptConversation._tag]: interruptConversation,
  [Messages.AddConversationListener._tag]: addConversationListener,
  [Messages.RemoveConversationListener._tag]: removeConversationListener,
  [Account.LoginApiKey._tag]: loginApiKey,
  [Account.LoginChatGpt._tag]: loginChatGpt,
  [Account.CancelLoginChatGpt._tag]: cancelLoginChatGpt,
  [Account.LogoutChatGpt._tag]: logoutChatGpt,
  [Account.GetAuthStatus._tag]: getAuthStatus,
  [Account.UserInfo._tag]: userInfo,
  [Account.AccountRateLimitsRead._tag]: accountRateLimitsRead,
  [HostMethods.GitDiffToRemote._tag]: gitDiffToRemote,
  [HostMethods.ExecOneOffCommand._tag]: execOneOffCommand,
  [HostMethods.FuzzyFileSearch._tag]: fuzzyFileSearch,
  [HostMethods.GetUserSavedConfig._tag]: getUserSavedConfig,
  [HostMethods.SetDefaultModel._tag]: setDefaultModel,
  [HostMethods.ModelList._tag]: modelList,
}

/** The same table, for the lookup by the method name of a message. */
const byName: Readonly<Record<string, AnyHandler | undefined>> = handlers

/** What the handlers of one connection need. */
export interface AppHandlersOptions {
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
  /**
   * True when this dialect owns the connection, so that nothing is served before its `initialize`; false besides MCP.
   */
  readonly initializes: boolean
  /** Form of approvals until the client declares one. */
  readonly approvals: () => ApprovalForm
  /** Whether the client shows forms of tool servers, until the client declares it. */
  readonly forms: () => boolean
  /** The server's part of the user agent: `colloquy/1.2.3 (Linux 6.1; x86_64)`. */
  readonly userAgent: string
  /** What the response to `initialize` says besides. */
  readonly identity?: Omit<ServerIdentity, "userAgent">
}

/** The route of a request; undefined if the dialect does not have its method. */
export type AppRoute = (request: Request) => Route | undefined

/** The services of the handlers of a connection, with the conversations of its principal. */
const servicesOf = (server: Server["Service"], principal: string) =>
  Effect.map(Effect.context<Auth | HostPort | UserConfig>(), (ports) =>
    portsOf(ports, principal, server.workspace(principal)).pipe(
      Context.add(ConversationsView, server.conversations(principal)),
      Context.add(SettingsResolver, server.settings(principal)),
    ),
  )

type RouteArguments = Parameters<Route["handler"]>

/** What serves one connection. */
export interface ServedConnection {
  readonly route: AppRoute
  readonly connection: AppConnection.AppConnection
  readonly context: Context.Context<AppServices>
}

/** The routes of all requests, which are served by that function. */
const routesOf = (
  { initializes }: AppHandlersOptions,
  serve: (
    name: string,
    handler: AnyHandler,
    ...args: RouteArguments
  ) => Effect.Effect<unknown, JsonRpcError>,
): ReadonlyMap<string, Route> => {
  const routes = new Map<string, Route>()
  for (const [name, method] of methodsOf(AppServer.clientToServer)) {
    const handler = byName[name]
    if (handler === undefined || (name === Initialize._tag && !initializes)) continue
    routes.set(name, {
      codec: codecOf(method),
      handler: (params, caller) => serve(name, handler, params, caller),
      badParams,
    })
  }
  return routes
}

/** Creates the routes of one connection. Their work ends with the current scope. */
export const make = (
  options: AppHandlersOptions,
): Effect.Effect<AppRoute, never, Server | Auth | HostPort | UserConfig | Scope.Scope> =>
  Effect.map(makeConnection(options), ({ route }) => route)

/** Like `make`, with what another dialect on the same connection shares. */
export const makeConnection = Effect.fnUntraced(function* (
  options: AppHandlersOptions,
): Effect.fn.Return<ServedConnection, never, Server | Auth | HostPort | UserConfig | Scope.Scope> {
  const server = yield* Server
  const { approvals, forms, identity, principal, userAgent } = options
  const context: Context.Context<AppServices> = yield* servicesOf(server, principal)
  const connection = yield* AppConnection.make({
    server,
    principal,
    // Not that of the principal: all connections of one login are notified when it changes.
    auth: yield* Auth,
    approvals,
    forms,
    userAgent,
    ...(identity === undefined ? {} : { identity }),
  })
  const serve = (name: string, handler: AnyHandler, ...[params, caller]: RouteArguments) => {
    if (options.initializes && name !== Initialize._tag && !connection.initialized()) {
      return Effect.fail(notInitialized())
    }
    const { afterAnswer, atEnd, hold, peer, requestId } = caller
    const call: AppCall = { afterAnswer, atEnd, connection, hold, peer, requestId }
    const served = Effect.provideContext(handler(params as never, call), context)
    // Besides MCP there is no `initialize` of this dialect, so the connection joins with its first request.
    return options.initializes ? served : Effect.andThen(connection.join(caller.peer), served)
  }

  const routes = routesOf(options, serve)
  return { route: ({ method }) => routes.get(method), connection, context }
})
