/** A server on a port, and sockets on which a test writes whatever bytes it likes. */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { home as makeHome } from "./Home.ts"
import { startHttp } from "./HttpProcess.ts"

/** The built program on a port of its own; the arguments follow `serve --listen`. */
export const serving = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const home = yield* makeHome()
  const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0", ...args])
  const url = yield* server.url
  const token = readFileSync(`${home}/http-token`, "utf8").trim()
  return { server, url, token, port: Number(new URL(url).port) }
})

/** A connection to the port; it is destroyed with the scope. */
export const opened = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () =>
        resume(Effect.succeed(socket)),
      )
      socket.on("error", () => {})
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  )

/** Everything that the server sends until it closes the connection. */
export const untilClosed = (socket: Socket) =>
  Effect.callback<string>((resume) => {
    let text = ""
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part
    })
    socket.once("close", () => resume(Effect.succeed(text)))
    socket.once("end", () => resume(Effect.succeed(text)))
  })
