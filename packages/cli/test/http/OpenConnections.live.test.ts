/** Connections of a real server on the loopback interface. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { followConnections } from "../../src/http/OpenConnections.ts"

const listening = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close()),
)

/** A connection on which this was sent; it is destroyed with the scope. */
const sending = (server: Server, text: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
      socket.on("error", () => {})
      socket.write(text)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  )

const closed = (socket: Socket) =>
  Effect.callback<void>((resume) => {
    if (socket.closed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
    socket.resume()
  })

describe("the open connections of a server", () => {
  it.live("those that wait for a response and those that were upgraded are cut at the end", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* listening
        const { closeUnused, cut } = followConnections(server, "connection")
        const arrived = Effect.callback<void>((resume) => {
          let count = 0
          const one = () => {
            count += 1
            if (count === 2) resume(Effect.void)
          }
          server.on("request", one).on("upgrade", one)
        })
        const request = yield* sending(server, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        const upgraded = yield* sending(
          server,
          "GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        )
        yield* arrived
        const unused = yield* sending(server, "GET")
        yield* Effect.callback<void>((resume) => {
          server.once("connection", () => resume(Effect.void))
        })
        yield* closeUnused
        yield* closed(unused)
        assert.isFalse(request.closed || upgraded.closed)
        yield* cut
        yield* Effect.forEach([request, upgraded], closed, { discard: true })
      }),
    ),
  )
})
