/** Streams, connections and WebSockets that a client misuses, against the built program. */
import { WebSocket } from "@effect/platform-node/NodeWS"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"
import type { Socket } from "node:net"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { opened, serving, untilClosed } from "./support/HostileSockets.ts"
import { request } from "./support/HttpProcess.ts"

/** Resolves when the condition holds; it is looked at whenever the server has had time to work. */
const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    condition() ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), until(condition)),
  )

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

/** Bytes of memory of a process. */
const residentOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024

const headOf = (socket: Socket) =>
  Effect.callback<string>((resume) => {
    socket.once("data", (data) => resume(Effect.succeed(String(data))))
  })

const mebibyte = 1024 * 1024

const headers = (port: number, token: string) =>
  `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`

const upgrade =
  "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

/** A WebSocket of the app-server, once it is open. */
const webSocket = (port: number, token: string) =>
  Effect.acquireRelease(
    Effect.callback<WebSocket>((resume) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
        headers: { authorization: `Bearer ${token}` },
      })
      socket.on("error", () => {})
      socket.once("open", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.terminate()),
  )

/** Sends a request of the app-server and resolves when something has come back. */
const called = (socket: WebSocket, id: number, method: string, params: object) =>
  Effect.callback<void>((resume) => {
    socket.once("message", () => resume(Effect.void))
    socket.send(JSON.stringify({ id, method, params }))
  })

describe("clients that misuse a stream", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live(
    "a connection above the limit gets 503 for its request, and one that ends makes room",
    () =>
      Effect.gen(function* () {
        const { port, token, url } = yield* serving("-c", "http.max_connections=4")
        const good = headers(port, token)
        yield* Effect.scoped(
          Effect.gen(function* () {
            for (let i = 0; i < 4; i++) {
              const one = yield* opened(port)
              one.write(`GET /v1/conversations HTTP/1.1\r\n${good}\r\n`)
              assert.match(yield* headOf(one), /^HTTP\/1\.1 200 /)
            }
            for (const more of ["", upgrade]) {
              const above = yield* opened(port)
              above.write(`GET /ws HTTP/1.1\r\n${good}${more}\r\n`)
              const text = yield* untilClosed(above)
              assert.match(text, /^HTTP\/1\.1 503 /)
              assert.match(text, /^retry-after: 1\r$/im)
            }
            const silent = yield* opened(port)
            assert.strictEqual(yield* untilClosed(silent), "")
          }),
        )
        yield* Effect.sleep("100 millis")
        assert.strictEqual((yield* request(`${url}/v1/conversations`, { token })).status, 200)
      }),
  )

  it.live("endless chunks end with 413, and a half-closed stream is given up", () =>
    Effect.gen(function* () {
      const { port, server, token, url } = yield* serving("-c", "http.max_body_bytes=100000")
      const good = headers(port, token)
      const chunked = yield* opened(port)
      chunked.write(
        `POST /v1/conversations HTTP/1.1\r\n${good}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      )
      const chunk = `1000\r\n${"x".repeat(4096)}\r\n`
      for (let i = 0; i < 50; i++) chunked.write(chunk)
      assert.match(yield* headOf(chunked), /^HTTP\/1\.1 413 /)
      const before = filesOf(server.pid)
      yield* Effect.scoped(
        Effect.gen(function* () {
          for (let i = 0; i < 50; i++) {
            const half = yield* opened(port)
            half.write(`GET /sse HTTP/1.1\r\n${good}accept: text/event-stream\r\n\r\n`)
            assert.match(yield* headOf(half), /^HTTP\/1\.1 200 /)
            half.end()
          }
          yield* until(() => filesOf(server.pid) <= before + 2)
        }),
      )
      assert.strictEqual((yield* request(`${url}/readyz`)).status, 200)
    }),
  )

  it.live("a WebSocket frame of 100 MB and endless fragments close it, and cost no memory", () =>
    Effect.gen(function* () {
      const { port, server, token, url } = yield* serving()
      const connected = webSocket(port, token)
      const codeOf = (socket: WebSocket) =>
        Effect.callback<number>((resume) => {
          socket.once("close", (code) => resume(Effect.succeed(code)))
        })
      const frame = Buffer.alloc(100 * mebibyte)
      const sendLarge = Effect.gen(function* () {
        const large = yield* connected
        large.send(frame)
        assert.strictEqual(yield* codeOf(large), 1009)
      })
      // What follows in the socket is read and dropped, and its buffers are collected some time.
      yield* sendLarge
      const before = residentOf(server.pid)
      yield* Effect.repeat(sendLarge, { times: 3 })
      const many = yield* connected
      for (let i = 0; i < 20_000; i++) many.send("", { fin: false, binary: false })
      assert.strictEqual(yield* codeOf(many), 1008)
      assert.isBelow(residentOf(server.pid) - before, 100 * mebibyte)
      assert.strictEqual((yield* request(`${url}/readyz`)).status, 200)
    }),
  )

  it.live("a WebSocket that reads nothing is cut at the end of the server", () =>
    Effect.gen(function* () {
      const { port, server, token, url } = yield* serving("-c", "model_provider=offline")
      const created = yield* request(`${url}/v1/conversations`, { token, json: {} })
      const { conversationId: threadId } = JSON.parse(created.text) as {
        readonly conversationId: string
      }
      const turn = (input: string) =>
        request(`${url}/v1/conversations/${threadId}/turns?wait=true`, { token, json: { input } })
      yield* turn("hi")
      const socket = yield* webSocket(port, token)
      const clientInfo = { name: "test", version: "1" }
      yield* called(socket, 1, "initialize", { clientInfo })
      yield* called(socket, 2, "thread/resume", { threadId })
      socket.pause()
      // More than the buffers of the operating system hold.
      for (let i = 0; i < 8; i++) yield* turn("x".repeat(mebibyte))
      yield* server.kill("SIGTERM")
      assert.deepStrictEqual(yield* server.exit, { code: 143, signal: null })
      assert.include(server.stderr(), "connections were cut")
      // The end of the process does not have to be forced.
      assert.notInclude(server.stderr(), "shutdown timed out")
    }),
  )
})
