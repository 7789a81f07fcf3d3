/**
 * The limit of connections at once. HTTP has no response before a request, so a connection above the limit is kept until its
 * first request, which gets 503 with `Retry-After`, and for a second at most. Few are kept so: Node closes the others.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** Connections above the limit that wait for their request. */
const maxRefusing = 64

/** How long a connection above the limit may be silent. */
const refuseWithinMs = 1000

/** Responds to the first request of a connection above the limit in place of the server. */
type Refuse = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E,
  R | HttpServerRequest.HttpServerRequest
>

/**
 * Limits the connections of a server.
 *
 * @param event `secureConnection` for a server with TLS: its requests come from those sockets
 */
export const limitConnections = (
  server: Server,
  maxConnections: number,
  event: "connection" | "secureConnection",
): Refuse => {
  const served = new Set<Socket>()
  const above = new WeakSet<object>()
  server.maxConnections = maxConnections + maxRefusing
  server.on(event, (socket: Socket) => {
    if (served.size < maxConnections) {
      served.add(socket)
      socket.once("close", () => served.delete(socket))
      return
    }
    above.add(socket)
    socket.setTimeout(refuseWithinMs, () => socket.destroy())
  })
  const busy = HttpServerResponse.jsonUnsafe(
    { code: "busy", message: `the server already has ${maxConnections} connections` },
    {
      status: 503,
      headers: { "cache-control": "no-store", connection: "close", "retry-after": "1" },
    },
  )
  return (app) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      above.has(NodeHttpServerRequest.toIncomingMessage(request).socket)
        ? Effect.succeed(busy)
        : app,
    )
}
