/** The connection through which the other nodes reach one node, which a test can cut. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createConnection, createServer, type Server, type Socket } from "node:net"

/** See the header. */
export interface Link {
  /** Where the other nodes reach the node. */
  readonly port: number
  /** Nothing passes any more, and nothing is refused: as where packets are lost. */
  readonly cut: Effect.Effect<void>
  /** Everything passes again, on new connections. */
  readonly heal: Effect.Effect<void>
}

const listen = (server: Server) =>
  Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** A link to whatever listens on the port. It is removed with the scope. */
export const make = Effect.fnUntraced(function* (
  target: number,
): Effect.fn.Return<Link, never, Scope.Scope> {
  const sockets = new Set<Socket>()
  let isCut = false
  const join = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on("data", (bytes) => void (isCut || to.write(bytes)))
    from.on("error", () => to.destroy())
    from.on("close", () => {
      sockets.delete(from)
      to.destroy()
    })
  }
  const server = createServer((client) => {
    const upstream = createConnection({ host: "127.0.0.1", port: target })
    join(client, upstream)
    join(upstream, client)
  })
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const port = yield* listen(server)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      drop()
      server.close()
    }),
  )
  return {
    port,
    cut: Effect.sync(() => void (isCut = true)),
    heal: Effect.sync(() => {
      drop()
      isCut = false
    }),
  }
})

/**
 * A port on which a process may listen that is started later: below those that the system gives to connections of others, and
 * free now.
 */
export const freePort: Effect.Effect<number> = Effect.suspend(() => {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  return Effect.callback<number>((resume) => {
    const server = createServer()
    server.once("error", () => resume(freePort))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
  })
})
