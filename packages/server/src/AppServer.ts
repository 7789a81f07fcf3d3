/** Serves the dialect `app-server` on one connection, which the caller has opened. */
import type { Connection } from "@colloquy/protocol/Connection"
import type { Request } from "@colloquy/protocol/JsonRpc"
import type { ServerIdentity } from "@colloquy/protocol/app/Initialize"
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { CancelRequest } from "@colloquy/protocol/app/Events"
import { ApprovalForm } from "@colloquy/protocol/app/Initialize"
import { Initialize, Initialized } from "@colloquy/protocol/app/Session"
import { ServerRequestResolved } from "@colloquy/protocol/thread/Notifications"
import { shortened } from "@colloquy/protocol/text/Shortened"
import { nearest } from "@colloquy/protocol/Nearest"
import { methodsOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type FindDialect, unknownMethodRoute } from "./jsonrpc/ForeignMethod.ts"
import { invalidRequest, overloaded } from "./app/AppErrors.ts"
import { make as makeHandlers, makeConnection } from "./app/AppHandlers.ts"
import { cancelRequest } from "./app/methods/CancelRequest.ts"
import { initialized } from "./app/methods/Initialized.ts"
import type { Auth } from "./app/ports/AuthPort.ts"
import type { HostPort } from "./app/ports/HostPort.ts"
import type { UserConfig } from "./app/ports/UserConfigPort.ts"
import { Server } from "./Server.ts"
import { hostHandlers } from "./thread/host/HostHandlers.ts"
import * as ThreadConnection from "./thread/ThreadConnection.ts"
import { routesOf as threadRoutes } from "./thread/ThreadHandlers.ts"
import { SentRequests } from "./thread/ThreadQuestions.ts"
import type { McpServerOptions } from "./McpServer.ts"
import type { Route } from "./jsonrpc/Route.ts"
import { make as makePeer } from "./jsonrpc/Peer.ts"
import { withCaller } from "./jsonrpc/TraceContext.ts"

/** Options of one connection of the app-server. Every one has a default. */
export interface AppServerOptions {
  /** Beginning of the reported `userAgent`. Default `colloquy`. */
  readonly userAgent?: string
  /**
   * What the response to `initialize` says besides: clients of app-server v2 expect it. Default: nothing, as in the first
   * version.
   */
  readonly identity?: Omit<ServerIdentity, "userAgent">
  /**
   * How long requests in flight, and turns that the client listens to, may continue after the end of input.
   * Default 500 ms.
   */
  readonly shutdownGrace?: Duration.Input
  /**
   * True: the process ends with this connection. Its conversations end before it, so that the client is sent how their
   * turns have ended. Default false: they stay in their manager.
   */
  readonly endsConversations?: boolean
  /** Largest number of requests served at once. Default 1,024. */
  readonly maxInFlight?: number
  /** Names the dialect that an unknown method belongs to, for its error. Default: the error names the method alone. */
  readonly findDialect?: FindDialect
}

/** The error, or the route to it, for a request whose method is unknown or is a notification. */
const noRequest = (name: string, find: FindDialect | undefined) => {
  const methods = methodsOf(AppServer.clientToServer)
  if (methods.has(name)) return invalidRequest(`\`${name}\` is a notification, expected no \`id\``)
  const near = nearest(name, [...methods.keys()])
  const fault = `unknown method \`${shortened(name, 80)}\``
  return unknownMethodRoute({
    method: name,
    spoken: AppServer.name,
    find,
    error: invalidRequest(near === undefined ? fault : `${fault}, did you mean \`${near}\`?`),
    fault: invalidRequest(fault).message,
  })
}

/** The routes of both versions, and the requests to the client of the second one. */
const routes = Effect.fnUntraced(function* (
  { peer: { principal } }: Connection,
  { identity, userAgent = "colloquy" }: AppServerOptions,
) {
  const v1 = yield* makeConnection({
    initializes: true,
    principal,
    approvals: () => "camelCase",
    forms: () => false,
    userAgent,
    ...(identity === undefined ? {} : { identity }),
  })
  const sent = new SentRequests()
  const server = yield* Server
  const threads = yield* ThreadConnection.make({ server, principal, app: v1.connection, sent })
  const others = yield* hostHandlers
  const v2 = threadRoutes({ connection: threads, context: v1.context, others })
  /** What a client declares in `initialize` may say that it is one of the second version. */
  const initializing = ({ handler, ...rest }: Route): Route => ({
    ...rest,
    handler: (...args) =>
      Effect.tap(handler(...args), () =>
        v1.connection.usesThreads() ? threads.join : Effect.void,
      ),
  })
  /** Several methods have the same name in both versions. */
  const route = (request: Request) => {
    const first = v1.route(request)
    if (request.method === Initialize._tag) return first && initializing(first)
    return v1.connection.usesThreads() ? (v2(request) ?? first) : (first ?? v2(request))
  }
  return { route, sent }
})

/**
 * Serves until the end of input. Requests in flight then have `shutdownGrace` to complete; the others are stopped and
 * get an error (L9). In the rest of that time the events of turns that the client listens to are delivered until the
 * turns end, unless the connection breaks. Conversations stay in their manager; a client that reconnects continues to
 * listen with `after`. A server without logins, commands or a configuration file provides `Auth.layerNone`,
 * `HostPort.layerNone` or `UserConfig.layerNone`.
 */
export const serve = (
  connection: Connection,
  options: AppServerOptions = {},
): Effect.Effect<void, never, Server | Auth | HostPort | UserConfig> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { route, sent } = yield* routes(connection, options)
      const peer = yield* makePeer({
        connection,
        adaptsEnvelope: true,
        local: AppServer.clientToServer,
        handlers: {
          [Initialized._tag]: () => initialized,
          [CancelRequest._tag]: cancelRequest,
        },
        route: (request) => route(request) ?? noRequest(request.method, options.findDialect),
        withdraw: ({ notify }, id) => {
          const threadId = sent.withdraw(id)
          return threadId === undefined
            ? notify(CancelRequest, [{ id }])
            : notify(ServerRequestResolved, [{ threadId, requestId: id }])
        },
        ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
        overloaded,
        ...(options.shutdownGrace === undefined ? {} : { shutdownGrace: options.shutdownGrace }),
        ...(options.endsConversations === true ? { beforeEnd: (yield* Server).shutdown } : {}),
      })
      yield* peer.run
    }),
  ).pipe(withCaller(connection.peer.headers?.["traceparent"]))

const isForm = Schema.is(ApprovalForm)

type Beside = NonNullable<McpServerOptions["beside"]>

type Capabilities = Readonly<Record<string, unknown>>

const experimental = ({ experimental }: Capabilities, name: string): unknown =>
  typeof experimental === "object" && experimental !== null
    ? (experimental as Capabilities)[name]
    : undefined

const formOf = (capabilities: Capabilities): ApprovalForm => {
  const declared = experimental(capabilities, "approvals")
  return isForm(declared) ? declared : "snake_case"
}

/**
 * Serves the same requests besides MCP on one connection (option `beside` of `McpServer`), as the original did up to
 * 0.36. `initialize` is the one of MCP. Approvals have the form of that version (`snake_case`) unless the client
 * declares `experimental.approvals`; forms of tool servers are sent only if it declares `experimental.elicitation`.
 */
export const beside = ({
  userAgent = "colloquy",
}: Pick<AppServerOptions, "userAgent"> = {}): Effect.Effect<
  Beside,
  never,
  Auth | HostPort | UserConfig
> =>
  Effect.map(
    Effect.context<Auth | HostPort | UserConfig>(),
    (ports): Beside =>
      (capabilities, { principal }) =>
        makeHandlers({
          initializes: false,
          principal,
          approvals: () => formOf(capabilities()),
          forms: () => experimental(capabilities(), "elicitation") === true,
          userAgent,
        }).pipe(Effect.updateContext((context) => Context.merge(context, ports))),
  )
