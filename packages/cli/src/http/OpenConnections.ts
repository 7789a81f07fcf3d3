/**
 * Which connections of a server wait for a response. When the server ends, the others are closed: Node waits for a client that
 * has sent no request, or only a part of one, and for one whose response has ended and that does not close its side.
 */
import * as Effect from "effect/Effect"
import type { IncomingMessage, Server } from "node:http"
import type { Duplex } from "node:stream"

/** The connections of one server. */
export interface OpenConnections {
  /** Closes each connection that waits for no response: now, or as soon as its last response was sent. */
  readonly closeUnused: Effect.Effect<void>
  /** Cuts every connection, WebSockets included, which Node leaves to the program once they are upgraded. */
  readonly cut: Effect.Effect<void>
}

/** A request whose body has not arrived has nothing that could be carried out. */
const isUnused = (requests: ReadonlySet<IncomingMessage>): boolean =>
  [...requests].every(({ complete }) => !complete)

/**
 * Follows the connections of a server. A WebSocket waits for no response; its route ends it, and `closeUnused` leaves it.
 *
 * @param event `secureConnection` for a server with TLS: its requests come from those sockets
 */
export const followConnections = (
  server: Server,
  event: "connection" | "secureConnection",
): OpenConnections => {
  const open = new Set<Duplex>()
  /** Those that were not upgraded. */
  const connections = new Map<Duplex, Set<IncomingMessage>>()
  let isClosing = false
  server.on(event, (socket: Duplex) => {
    open.add(socket)
    connections.set(socket, new Set())
    socket.once("close", () => {
      open.delete(socket)
      connections.delete(socket)
    })
  })
  server.on("request", (request, response) => {
    const { socket } = request
    const requests = connections.get(socket)
    requests?.add(request)
    response.once("close", () => {
      requests?.delete(request)
      if (isClosing && requests?.size === 0) socket.destroySoon()
    })
  })
  server.on("upgrade", (_request, socket) => connections.delete(socket))
  const closeUnused = Effect.sync(() => {
    isClosing = true
    for (const [socket, requests] of connections) {
      if (isUnused(requests)) socket.destroy()
    }
  })
  const cut = Effect.sync(() => {
    for (const socket of open) socket.destroy()
  })
  return { closeUnused, cut }
}
