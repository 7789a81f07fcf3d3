/**
 * Serves WebSocket requests: upgrades one, serves it as a connection, and closes it with a code that tells the client why.
 *
 * | code | meaning |
 * | --- | --- |
 * | 1000 | the server has served the connection to its end |
 * | 1001 | the server shuts down, after the last event |
 * | 1007, 1009 | a text is not UTF-8; a message is larger than the limit |
 * | 1011 | the server failed |
 */
import type { Connection, ConnectionPeer } from "@colloquy/protocol/Connection"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { CredentialEnd } from "../guard/CredentialEnd.ts"
import { Draining } from "../guard/Draining.ts"
import { principal } from "../guard/Guard.ts"
import * as WebSocketConnection from "./WebSocketConnection.ts"

/** Largest message that is read: that of a line on standard input, so that a prompt fits either both or none. */
const defaultMaxMessageBytes = 64 * 1024 * 1024

/**
 * The options of the HTTP server's WebSockets. A larger message is refused with close code 1009 before it is read.
 *
 * @param maxMessageBytes limit of one message, fragments together
 */
export const serverOptions = (maxMessageBytes: number = defaultMaxMessageBytes) => ({
  maxPayload: maxMessageBytes,
  // A compressed message of some bytes may become one of gigabytes.
  perMessageDeflate: false,
  // Connections end by `drain`; waiting for tracked clients as well would only delay the end.
  clientTracking: false,
})

/** What a route of WebSockets needs besides the program that serves a connection. */
export interface WebSocketRouteOptions extends Omit<WebSocketConnection.WebSocketOptions, "peer"> {
  /** Resolves when the server shuts down: the input of each connection ends, and it is closed once it was served. */
  readonly draining?: Effect.Effect<void>
}

const upgradeRequired = HttpServerResponse.jsonUnsafe(
  { code: "upgrade_required", message: "expected a WebSocket upgrade" },
  // Without `close` Node would keep a connection open that its client asked to close.
  { status: 426, headers: { connection: "close, upgrade", upgrade: "websocket" } },
)

const notAllowed = HttpServerResponse.jsonUnsafe(
  { code: "method_not_allowed", message: "expected GET" },
  { status: 405, headers: { allow: "GET, HEAD" } },
)

/** HEAD is served as GET. */
const otherMethods = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const

/** Headers by their names in lower case; a repeated header is one value, as HTTP joins them. */
const peerOf = (
  principal: string,
  { headers }: HttpServerRequest.HttpServerRequest,
): ConnectionPeer => ({ principal, headers: { ...headers } })

/** What ends a connection besides its client. */
type Ending = "draining" | "credentials"

const closeOf = (
  exit: Exit.Exit<void>,
  ending: Ending | undefined,
): readonly [code: number, reason: string] => {
  if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause))
    return [1011, "the server failed"]
  if (ending === "credentials") return [1008, "the token is not valid any more"]
  return ending === "draining" || Exit.isFailure(exit)
    ? [1001, "the server shuts down"]
    : [1000, "the connection was served"]
}

const serveConnection = <R>(
  connection: WebSocketConnection.WebSocketConnection,
  serve: (connection: Connection) => Effect.Effect<void, never, R>,
  draining: Effect.Effect<void>,
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    let ending: Ending | undefined
    const endBy = (reason: Ending) =>
      Effect.sync(() => {
        ending = reason
      })
    yield* draining.pipe(
      Effect.andThen(endBy("draining")),
      Effect.andThen(connection.drain),
      Effect.forkScoped({ startImmediately: true }),
    )
    const ended = Effect.andThen(yield* CredentialEnd, endBy("credentials"))
    // A request is handled without interruption by default; the end of the server and of the client interrupt this one.
    yield* Effect.onExit(Effect.interruptible(Effect.raceFirst(serve(connection), ended)), (exit) =>
      connection.close(...closeOf(exit, ending)),
    )
  })

/**
 * Serves the current request as a WebSocket on behalf of the principal, and resolves when the connection has ended. Responds
 * 426 to a request that is no upgrade; the library responds to one whose WebSocket headers are wrong.
 */
export const handle = <R>(
  principal: string,
  serve: (connection: Connection) => Effect.Effect<void, never, R>,
  { draining = Effect.never, ...options }: WebSocketRouteOptions = {},
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  R | HttpServerRequest.HttpServerRequest
> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const upgrade = request.headers["upgrade"]?.toLowerCase()
    if (upgrade !== "websocket") return upgradeRequired
    const tcp = NodeHttpServerRequest.toIncomingMessage(request).socket
    yield* Effect.scoped(
      Effect.gen(function* () {
        const socket = yield* request.upgrade
        const connection = yield* WebSocketConnection.make(socket, tcp, {
          ...options,
          peer: peerOf(principal, request),
        })
        yield* serveConnection(connection, serve, draining)
      }),
      // The handshake failed, and the library has responded, or the client was gone before it.
    ).pipe(Effect.ignore)
    return HttpServerResponse.empty()
  })

/**
 * Serves WebSockets at a path, each on behalf of the principal that `guarded` has found.
 *
 *     guarded(WebSocketRoute.layer("/ws", AppServer.serve))
 *
 * @param path `*` serves every path, and responds 405 to methods other than GET
 * @param serve the program of one connection
 */
export const layer = <R>(
  path: HttpRouter.PathInput,
  serve: (connection: Connection) => Effect.Effect<void, never, R>,
  options: WebSocketRouteOptions = {},
) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const context = yield* Effect.context<R>()
      const { finishing } = yield* Draining
      const provided = (connection: Connection) => Effect.provideContext(serve(connection), context)
      const served = Effect.flatMap(principal, (name) =>
        handle(name, provided, { draining: finishing, ...options }),
      )
      yield* router.add("GET", path, served)
      if (path !== "*") return
      yield* router.addAll(otherMethods.map((method) => HttpRouter.route(method, path, notAllowed)))
    }),
  )
