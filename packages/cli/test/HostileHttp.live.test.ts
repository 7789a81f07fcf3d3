/** Requests that break the rules of HTTP, as bytes on a socket, against the built program. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { readdirSync, readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { request, startHttp } from "./support/HttpProcess.ts"
import { home as makeHome } from "./support/Home.ts"

const serving = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const home = yield* makeHome()
  const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0", ...args])
  const url = yield* server.url
  const token = readFileSync(`${home}/http-token`, "utf8").trim()
  return { server, url, token, port: Number(new URL(url).port) }
})

const opened = (port: number) =>
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
const untilClosed = (socket: Socket) =>
  Effect.callback<string>((resume) => {
    let text = ""
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part
    })
    socket.once("close", () => resume(Effect.succeed(text)))
    socket.once("end", () => resume(Effect.succeed(text)))
  })

/** The statuses of all responses to the bytes, in order. */
const statusesOf = (port: number, bytes: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const socket = yield* opened(port)
      socket.write(bytes)
      const text = yield* untilClosed(socket)
      return [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
    }),
  )

const close = "connection: close\r\n"

const post = (headers: string, body: string): string =>
  `POST /v1/conversations HTTP/1.1\r\ncontent-type: application/json\r\n${headers}\r\n${body}`

describe("a server on a port", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live("refuses what could be read in two ways, and serves on", () =>
    Effect.gen(function* () {
      const { port, token, url } = yield* serving()
      const host = `host: 127.0.0.1:${port}\r\n`
      const bearer = `authorization: Bearer ${token}\r\n`
      const good = `${host}${bearer}`
      const smuggled = `GET /v1/conversations HTTP/1.1\r\n${good}\r\n`
      const inputs: ReadonlyArray<readonly [string, string, ReadonlyArray<number>]> = [
        ["a good request", post(`${good}${close}content-length: 2\r\n`, "{}"), [201]],
        [
          "two hosts",
          post(`${host}host: evil.example\r\n${bearer}${close}content-length: 2\r\n`, "{}"),
          [400],
        ],
        ["no host", post(`${bearer}${close}content-length: 2\r\n`, "{}"), [400]],
        ["two tokens", post(`${good}${bearer}${close}content-length: 2\r\n`, "{}"), [401]],
        ["two lengths", post(`${good}content-length: 2\r\ncontent-length: 3\r\n`, "{}"), [400]],
        [
          "a length and chunks",
          post(
            `${good}content-length: 2\r\ntransfer-encoding: chunked\r\n`,
            `0\r\n\r\n${smuggled}`,
          ),
          [400],
        ],
        [
          "an unknown encoding",
          post(`${good}transfer-encoding: chunked, x\r\n`, `0\r\n\r\n${smuggled}`),
          [400],
        ],
        ["a negative length", post(`${good}content-length: -1\r\n`, "{}"), [400]],
        [
          "a chunk that is no number",
          post(`${good}transfer-encoding: chunked\r\n`, "z\r\n{}\r\n0\r\n\r\n"),
          [400],
        ],
        [
          "a folded header",
          post(`${good}x: a\r\n b\r\n${close}content-length: 2\r\n`, "{}"),
          [400],
        ],
        ["a space before the colon", post(`${good}x : a\r\ncontent-length: 2\r\n`, "{}"), [400]],
        ["a bare line feed", `GET /healthz HTTP/1.1\nhost: 127.0.0.1\n\n`, [400]],
        ["no HTTP", "\u0016\u0003\u0001\u0002\u0000\r\n\r\n", [400]],
        [
          "endless headers",
          `GET /healthz HTTP/1.1\r\n${host}x: ${"y".repeat(100_000)}\r\n\r\n`,
          [431],
        ],
        ["a long body", post(`${good}content-length: 99999999999\r\n`, "{}"), [413]],
      ]
      for (const [name, bytes, expected] of inputs) {
        assert.deepStrictEqual(yield* statusesOf(port, bytes), expected, name)
      }
      assert.strictEqual((yield* request(`${url}/readyz`)).status, 200)
    }),
  )

  it.live("gives up requests that arrive too slowly, and serves others meanwhile", () =>
    Effect.gen(function* () {
      const { port, token, url } = yield* serving(
        "-c",
        "http.header_timeout_ms=300",
        "-c",
        "http.request_timeout_ms=600",
      )
      const good = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`
      const slow = yield* Effect.forEach(
        ["GET /v1/conversations HTTP/1.1\r\nx: ", post(`${good}content-length: 100\r\n`, "{")],
        (bytes) => Effect.forkChild(statusesOf(port, bytes), { startImmediately: true }),
      )
      assert.strictEqual((yield* request(`${url}/v1/conversations`, { token })).status, 200)
      for (const fiber of slow) assert.deepStrictEqual(yield* Fiber.join(fiber), [408])
    }),
  )

  it.live("keeps nothing of connections that were opened and dropped", () =>
    Effect.gen(function* () {
      const { port, server, url } = yield* serving()
      const files = () => readdirSync(`/proc/${server.pid}/fd`).length
      yield* request(`${url}/healthz`)
      const before = files()
      for (let round = 0; round < 20; round++) {
        yield* Effect.scoped(Effect.forEach(Array.from({ length: 100 }), () => opened(port)))
      }
      assert.strictEqual((yield* request(`${url}/healthz`)).status, 200)
      assert.isAtMost(files(), before + 10)
    }),
  )
})
