import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { connect } from "node:net"
import * as LoginServer from "../../src/auth/LoginServer.ts"

const state = "the-state"

/** Sends these bytes and resolves with everything received until the server closes the connection. */
const send = (port: number, bytes: string | Uint8Array) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1")
    })
    // A connection reset counts as a response, too.
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(text)))
    socket.end(bytes)
  })

const statusOf = (response: string): string => response.slice(0, response.indexOf("\r\n"))

const opened = Effect.gen(function* () {
  const server = yield* LoginServer.make(0)
  const port = Number(new URL(server.redirectUri).port)
  const code = yield* Effect.forkChild(server.code(state), { startImmediately: true })
  const ask = (line: string, headers = `Host: 127.0.0.1:${port}\r\n`) =>
    send(port, `${line}\r\n${headers}\r\n`)
  /** Checks that the login can still be completed after the earlier requests. */
  const completes = Effect.gen(function* () {
    const done = yield* ask(`GET /auth/callback?state=${state}&code=the-code HTTP/1.1`)
    assert.strictEqual(statusOf(done), "HTTP/1.1 200 OK")
    assert.strictEqual(yield* Fiber.join(code), "the-code")
  })
  return { port, code, ask, completes }
})

const targets: ReadonlyArray<string> = [
  "//",
  "///",
  "//?",
  "/\\",
  "http://",
  "http://[",
  "http://%",
  "http:",
  "https://x:99999/",
  "*",
  "?",
  "#",
  "",
  "/auth/callback/..",
  "//auth/callback",
  "/%",
  "/%zz",
  "/%00",
  "/..%2f",
  "/auth/callback?state=%zz",
  "/auth/callback?%",
  "/auth/callback?state=%ff%fe&code=%",
  "/auth/callback?state",
  "/auth/callback?&&==&",
  "/auth/callback?state=\u00e9",
  "/\u00ff",
  "http://127.0.0.1/auth/callback",
  "javascript:0",
  "::",
  `/${"a".repeat(10_000)}`,
  `/auth/callback?${"state=x&".repeat(1000)}`,
]

describe("LoginServer", () => {
  it.live.each(targets)("L13 the target %.40s gets an error, and the login continues", (target) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ask, code, completes } = yield* opened
        assert.match(statusOf(yield* ask(`GET ${target} HTTP/1.1`)), /^HTTP\/1\.1 40[0-9] /)
        assert.isUndefined(code.pollUnsafe())
        yield* completes
      }),
    ),
  )

  it.live(
    "L13 `GET //` gets a response whatever host it names, before and after a login began",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* LoginServer.make(0)
          const port = Number(new URL(server.redirectUri).port)
          for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "evil.example", "//", ""]) {
            const response = yield* send(port, `GET // HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
            assert.match(statusOf(response), /^HTTP\/1\.1 40[34] /)
          }
        }),
      ),
  )

  it.live.each([
    ["no host", "GET /auth/callback HTTP/1.1", "", /^HTTP\/1\.1 400 /],
    ["two hosts", "GET /auth/callback HTTP/1.1", "Host: a\r\nHost: b\r\n", /^HTTP\/1\.1 40[03] /],
    ["a host of bytes", "GET / HTTP/1.1", "Host: \u00ff\u00fe\r\n", /^HTTP\/1\.1 40[03] /],
    ["HTTP/1.0 without a host", "GET // HTTP/1.0", "", /^HTTP\/1\.1 403 /],
    ["HTTP/9.9", "GET / HTTP/9.9", "Host: x\r\n", /^HTTP\/1\.1 400 /],
    ["an unknown method", "BREW / HTTP/1.1", "Host: x\r\n", /^HTTP\/1\.1 400 /],
    ["a method in lower case", "get / HTTP/1.1", "Host: x\r\n", /^HTTP\/1\.1 400 /],
    ["CONNECT", "CONNECT // HTTP/1.1", "Host: x\r\n", /^$|^HTTP\/1\.1 40/],
    ["OPTIONS *", "OPTIONS * HTTP/1.1", "Host: x\r\n", /^HTTP\/1\.1 403 /],
    [
      "POST",
      "POST /auth/callback HTTP/1.1",
      "Host: x\r\nContent-Length: 0\r\n",
      /^HTTP\/1\.1 403 /,
    ],
    [
      "an upgrade",
      "GET / HTTP/1.1",
      "Host: x\r\nUpgrade: x\r\nConnection: upgrade\r\n",
      /^HTTP\/1\.1 40/,
    ],
    ["an expectation", "GET / HTTP/1.1", "Host: x\r\nExpect: tea\r\n", /^HTTP\/1\.1 4/],
    ["a broken header", "GET / HTTP/1.1", "Host: x\r\nno colon\r\n", /^HTTP\/1\.1 400 /],
    ["a header with NUL", "GET / HTTP/1.1", "Host: x\r\na: \u0000\r\n", /^HTTP\/1\.1 400 /],
    ["64 KiB of headers", "GET / HTTP/1.1", `a: ${"b".repeat(65_536)}\r\n`, /^HTTP\/1\.1 431 |^$/],
    ["garbage", "\u0000\u0001\u0002", "", /^HTTP\/1\.1 400 /],
  ] as const)("L13 %s gets an error, and the login continues", ([, line, headers, expected]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ask, code, completes } = yield* opened
        assert.match(statusOf(yield* ask(line, headers)), expected)
        assert.isUndefined(code.pollUnsafe())
        yield* completes
      }),
    ),
  )

  it.live("L13 a code with the state of another attempt, in any spelling, completes nothing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ask, code, completes } = yield* opened
        for (const query of [
          "code=x",
          "state=&code=x",
          `state=${state}x&code=x`,
          `state=x&state=${state}&code=x`,
          `STATE=${state}&code=x`,
          `state=${state}&code=`,
          `state=${state}`,
        ]) {
          const response = yield* ask(`GET /auth/callback?${query} HTTP/1.1`)
          assert.strictEqual(statusOf(response), "HTTP/1.1 400 Bad Request")
        }
        assert.isUndefined(code.pollUnsafe())
        yield* completes
      }),
    ),
  )
})
