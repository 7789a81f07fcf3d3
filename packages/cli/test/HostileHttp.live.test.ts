/** Requests that break the rules of HTTP, as bytes on a socket, against the built program. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { readdirSync } from "node:fs"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { opened, serving, untilClosed } from "./support/HostileSockets.ts"
import { request } from "./support/HttpProcess.ts"

/** The statuses of all responses to the bytes, in order. */
const statusesOf = (port: number, bytes: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const socket = yield* opened(port)
      socket.write(bytes, "latin1")
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
        [
          "a compressed body in chunks",
          post(`${good}transfer-encoding: gzip, chunked\r\n`, `2\r\n{}\r\n0\r\n\r\n${smuggled}`),
          [415],
        ],
        [
          "a body that is not UTF-8",
          post(`${good}${close}content-length: 11\r\n`, '{"cwd":"\u00ff"}'),
          [400],
        ],
        ["a path that nobody can read", `GET /v1/%zz HTTP/1.1\r\n${good}${close}\r\n`, [404]],
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

  it.live(
    "keeps nothing of 10,000 connections that were opened and dropped",
    () =>
      Effect.gen(function* () {
        const { port, server, url } = yield* serving()
        const files = () => readdirSync(`/proc/${server.pid}/fd`).length
        yield* request(`${url}/healthz`)
        const before = files()
        for (let round = 0; round < 100; round++) {
          yield* Effect.scoped(Effect.forEach(Array.from({ length: 100 }), () => opened(port)))
        }
        assert.strictEqual((yield* request(`${url}/healthz`)).status, 200)
        // A server that is busy elsewhere learns later of what was dropped; one that keeps it never gets there.
        while (files() > before + 10) yield* Effect.sleep(20)
      }),
    120_000,
  )

  it.live("is not kept from ending by clients that wait for no response", () =>
    Effect.gen(function* () {
      const { port, server, token } = yield* serving()
      const headers = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`
      const silent = yield* opened(port)
      const partial = yield* opened(port)
      partial.write("GET /v1/conv")
      const slow = yield* opened(port)
      slow.write(post(`${headers}content-length: 20\r\n`, "{"))
      const stream = yield* opened(port)
      const streaming = Effect.callback<void>((resume) => {
        stream.once("data", () => resume(Effect.void))
      })
      const first = yield* Effect.forkChild(streaming, { startImmediately: true })
      stream.write(`GET /sse HTTP/1.1\r\n${headers}\r\n`)
      yield* Fiber.join(first)
      const sockets = [silent, partial, slow, stream]
      const ends = yield* Effect.forkChild(
        Effect.forEach(sockets, untilClosed, { concurrency: "unbounded" }),
        { startImmediately: true },
      )
      yield* server.kill("SIGTERM")
      assert.deepStrictEqual(yield* server.exit, { code: 143, signal: null })
      yield* Fiber.join(ends)
      // It waits for what is left, for a limited time, and says so.
      assert.notInclude(server.stderr(), "connections were cut")
    }),
  )
})
