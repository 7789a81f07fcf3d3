/**
 * Serves routes on a port until the process is asked to stop, and then ends in the order in which clients lose nothing:
 *
 *   listening ── signal ──▶ no new requests ── grace ──▶ conversations end ──▶ connections end ──▶ closed
 *                           503, `/readyz` 503           last events           with a reason
 */
import { Server } from "@colloquy/server/Server"
import { Draining, type OwnedDrain } from "@colloquy/transport-http/guard/Draining"
import { RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import type { Principals } from "@colloquy/transport-http/guard/Principals"
import * as WebSocketRoute from "@colloquy/transport-http/ws/WebSocketRoute"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { createServer, type Server as NodeServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { readFile } from "@colloquy/store/node/ReadFile"
import type * as Application from "../Application.ts"
import type { HttpOptions } from "../args/HttpOptions.ts"
import type { ListenAddress } from "../args/Addresses.ts"
import { codeOf, problemOf } from "../config/ConfigFile.ts"
import { authorityOf, isEncrypted } from "./BindPolicy.ts"
import { limitConnections } from "./ConnectionLimit.ts"
import { routes, type HttpRoutesOptions } from "./HttpRoutes.ts"
import { followConnections, type OpenConnections } from "./OpenConnections.ts"

/** The server cannot listen; `message` is one line. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly message: string }> {}

/** What a server needs besides its routes. */
export interface HttpServing extends HttpRoutesOptions {
  readonly principals: Layer.Layer<Principals>
  readonly drain: OwnedDrain
  /** Resolves when the server shall end. */
  readonly stopped: Effect.Effect<void>
  /** Called with the address once the server listens. */
  readonly onListening: (url: string) => void
  /** Called when the server begins to wait for this, while it ends. */
  readonly onEnding: (awaited: string) => void
  /** Longest time from `stopped` to the end; absent where only the connections have a bound. */
  readonly endWithinMs?: number | undefined
}

/** How long requests and turns may go on after the signal, if not configured. */
export const defaultGraceMs = 500

/** How long connections may take to receive their last bytes and to end. */
const closeTimeoutMs = 5_000

/** Least time for connections where the turns have taken what there was. */
const minCloseTimeoutMs = 500

const maxPemBytes = 1024 * 1024

/** Largest headers of a request; a larger one gets 431. */
const maxHeaderSize = 32 * 1024

/** A connection takes some ten kilobytes. */
const defaultMaxConnections = 4096

/** How often Node looks for requests that take too long. */
const checkEveryMs = 1000

const readPem = (path: string | undefined) =>
  Effect.try({
    try: () => Buffer.from(readFile(path ?? "", maxPemBytes)),
    catch: (error) => new ListenError({ message: `${path ?? ""}: ${problemOf(error)}` }),
  })

const limitsOf = ({
  header_timeout_ms: headersTimeout = 10_000,
  request_timeout_ms: requestTimeout = 120_000,
}: HttpOptions) => ({
  requestTimeout,
  headersTimeout: requestTimeout === 0 ? headersTimeout : Math.min(headersTimeout, requestTimeout),
  connectionsCheckingInterval: checkEveryMs,
  maxHeaderSize,
  // Two `Host` or `Authorization` headers are one value that is not valid, in place of the first one alone.
  joinDuplicateHeaders: true,
  // A proxy in front must see the same requests as this server.
  insecureHTTPParser: false,
})

const makeNode = Effect.fnUntraced(function* (address: ListenAddress, options: HttpOptions) {
  const limits = limitsOf(options)
  const server: NodeServer = isEncrypted(address)
    ? yield* Effect.flatMap(
        Effect.all([readPem(options.tls_certificate), readPem(options.tls_key)]),
        ([cert, key]) =>
          Effect.try({
            try: () => createTlsServer({ ...limits, cert, key, handshakeTimeout: 10_000 }),
            catch: (error) =>
              new ListenError({
                message: `${options.tls_certificate ?? ""}, ${options.tls_key ?? ""}: not a certificate and its private key in PEM (${codeOf(error)})`,
              }),
          }),
      )
    : createServer(limits)
  const event = isEncrypted(address) ? "secureConnection" : "connection"
  const refuse = limitConnections(server, options.max_connections ?? defaultMaxConnections, event)
  return { node: server, refuse, connections: followConnections(server, event) }
})

const listening = (node: NodeServer, { host, port }: ListenAddress, options: HttpOptions) =>
  NodeHttpServer.layer(() => node, {
    host,
    port,
    disablePreemptiveShutdown: true,
    websocket: WebSocketRoute.serverOptions(options.max_body_bytes),
  })

/** Resolves when all connections have ended. No further one is accepted. */
const closed = (node: NodeServer) =>
  Effect.callback<void>((resume) => {
    node.close(() => resume(Effect.void))
  })

/** The address as clients write it, with the port that was chosen. */
const urlOf = ({ host, scheme }: ListenAddress, node: NodeServer): string => {
  const bound = node.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : 0
  return `${scheme}://${authorityOf(host)}:${port}`
}

const end = Effect.fnUntraced(function* (
  node: NodeServer,
  connections: OpenConnections,
  { drain, endWithinMs = Infinity, onEnding, started }: HttpServing,
) {
  const { shutdown } = yield* Server
  const sinceMs = yield* Clock.currentTimeMillis
  onEnding("requests")
  yield* drain.refuse
  const ending = yield* Effect.forkScoped(closed(node), { startImmediately: true })
  const graceMs = started.startup.options.shutdown_grace_ms ?? defaultGraceMs
  yield* Effect.timeoutOption(Fiber.await(ending), graceMs)
  yield* connections.closeUnused
  onEnding("the end of conversations")
  yield* shutdown
  yield* drain.finish
  onEnding("clients that do not read")
  const leftMs = sinceMs + endWithinMs - (yield* Clock.currentTimeMillis)
  yield* Effect.timeoutOrElse(Fiber.await(ending), {
    duration: Math.min(closeTimeoutMs, Math.max(minCloseTimeoutMs, leftMs)),
    orElse: () => Effect.logWarning("connections were cut: their clients did not read to the end"),
  })
  yield* connections.cut
  onEnding("the database and other servers")
})

/** Listens and serves until `stopped`. Fails if it cannot listen. */
export const serve = (
  serving: HttpServing,
): Effect.Effect<void, ListenError, Application.Services> =>
  Effect.gen(function* () {
    const { address, drain, onListening, options, principals, stopped } = serving
    const { connections, node, refuse } = yield* makeNode(address, options)
    const app = HttpRouter.serve(routes(serving), {
      disableLogger: true,
      disableListenLog: true,
      middleware: refuse,
    })
    const limits = Limits.layer({
      ...(options.max_requests === undefined ? {} : { maxRequests: options.max_requests }),
      ...(options.max_principal_requests === undefined
        ? {}
        : { maxPrincipalRequests: options.max_principal_requests }),
    })
    yield* Layer.build(
      app.pipe(
        Layer.provide([principals, limits, RouteTable.layer, Layer.succeed(Draining, drain)]),
        Layer.provide(HttpServer.layerServices),
        Layer.provide(listening(node, address, options)),
      ),
    )
    onListening(urlOf(address, node))
    yield* stopped
    yield* end(node, connections, serving)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(
        new ListenError({
          message: `cannot listen on ${authorityOf(serving.address.host)}:${serving.address.port}: ${problemOf(cause)}`,
        }),
      ),
    ),
  )
