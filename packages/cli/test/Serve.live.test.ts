/** The commands that listen on a port: the built program, sockets and files. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { WebSocket } from "@effect/platform-node/NodeWS"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { readFileSync, statSync } from "node:fs"
import { request as httpsRequest } from "node:https"
import { fileURLToPath } from "node:url"
import { httpSetup } from "../compat/ClientsPage.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { type HttpProcess, request, startHttp } from "./support/HttpProcess.ts"
import { home as makeHome } from "./support/Home.ts"

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/tls/${name}`, import.meta.url))

const anyPort = "http://127.0.0.1:0"

const tokenOf = (home: string): string => readFileSync(`${home}/http-token`, "utf8").trim()

/** A server of a new state directory, once it listens. */
const serving = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const home = yield* makeHome()
  const server = yield* startHttp(home, args)
  const url = yield* server.url
  return { home, server, url, token: tokenOf(home) }
})

const failing = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const server = yield* startHttp(yield* makeHome(), args)
  const { code } = yield* server.exit
  return { code, error: server.stderr(), output: server.stdout() }
})

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
}

const callCodex = (prompt: string) => ({
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "codex", arguments: { prompt } },
})

/** Starts a turn that runs a command for longer than the test takes. */
const startLongTurn = Effect.fnUntraced(function* (url: string, token: string) {
  const created = yield* request(`${url}/v1/conversations`, { token, json: {} })
  const { conversationId } = JSON.parse(created.text) as { readonly conversationId: string }
  const events = yield* Effect.forkChild(
    request(`${url}/v1/conversations/${conversationId}/events`, { token }),
    { startImmediately: true },
  )
  yield* request(`${url}/v1/conversations/${conversationId}/turns`, {
    token,
    json: { input: "run: sleep 60" },
  })
  return { conversationId, events }
})

interface Closed {
  readonly code: number
  readonly reason: string
  readonly messages: ReadonlyArray<string>
}

/** Sends the messages over a WebSocket and resolves when the server has closed it. */
const untilClosed = (url: string, token: string, messages: ReadonlyArray<object>) =>
  Effect.callback<Closed>((resume) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    const received: Array<string> = []
    socket.on("open", () => {
      for (const message of messages) socket.send(JSON.stringify(message))
    })
    socket.on("message", (data) => received.push((data as Buffer).toString("utf8")))
    socket.on("error", () => {})
    socket.on("close", (code, reason) =>
      resume(Effect.succeed({ code, reason: reason.toString("utf8"), messages: received })),
    )
    return Effect.sync(() => socket.terminate())
  })

const ends = Effect.fnUntraced(function* (server: HttpProcess) {
  yield* server.kill("SIGTERM")
  return yield* server.exit
})

describe("colloquy serve", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live("creates a token that only the user can read, and prints it once", () =>
    Effect.gen(function* () {
      const { home, server, token, url } = yield* serving("serve", "--listen", anyPort)
      assert.strictEqual(statSync(`${home}/http-token`).mode & 0o777, 0o600)
      assert.include(
        server.stdout(),
        httpSetup("@anthropic-ai/claude-code", "sh", {
          PORT: Number(new URL(url).port),
          TOKEN: token,
        }),
      )
      assert.notInclude(server.stderr(), token)
      assert.deepStrictEqual(yield* ends(server), { code: 143, signal: null })
      const again = yield* startHttp(home, ["serve", "--listen", anyPort])
      yield* again.url
      assert.notInclude(again.stdout(), token)
      assert.include(again.stdout(), `${home}/http-token`)
    }),
  )

  it.live("serves every dialect to those who have the token, and health to everybody", () =>
    Effect.gen(function* () {
      const { token, url } = yield* serving("serve", "--listen", anyPort)
      assert.strictEqual((yield* request(`${url}/healthz`)).status, 200)
      assert.strictEqual((yield* request(`${url}/readyz`)).status, 200)
      assert.strictEqual((yield* request(`${url}/mcp`, { json: initialize })).status, 401)
      const opened = yield* request(`${url}/mcp`, { token, json: initialize })
      assert.strictEqual(opened.status, 200)
      assert.isNotEmpty(opened.headers.get("mcp-session-id"))
      assert.strictEqual((yield* request(`${url}/v1/conversations`)).status, 401)
      assert.strictEqual((yield* request(`${url}/v1/conversations`, { token })).status, 200)
      assert.strictEqual((yield* request(`${url}/ws`, { token })).status, 426)
    }),
  )

  it.live("with SIGTERM sends the last event of each turn, closes with a reason and exits", () =>
    Effect.gen(function* () {
      const { server, token, url } = yield* serving("serve", "--listen", anyPort)
      const { conversationId, events } = yield* startLongTurn(url, token)
      const started = yield* Deferred.make<void>()
      const socket = yield* Effect.forkChild(
        untilClosed(`${url.replace("http", "ws")}/ws`, token, [
          { id: 1, method: "initialize", params: { clientInfo: { name: "test", version: "1" } } },
          { method: "initialized" },
          { id: 3, method: "addConversationListener", params: { conversationId } },
        ]),
        { startImmediately: true },
      )
      const opened = yield* request(`${url}/mcp`, { token, json: initialize })
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
      const reading = yield* Deferred.make<void>()
      const unread = yield* Effect.forkChild(
        request(`${url}/mcp`, { headers: session, token }, () =>
          Deferred.doneUnsafe(reading, Effect.void),
        ),
        { startImmediately: true },
      )
      yield* Deferred.await(reading)
      const call = yield* Effect.forkChild(
        request(
          `${url}/mcp`,
          { headers: session, token, json: callCodex("run: sleep 60") },
          (text) => {
            if (text.includes("exec_command_begin")) Deferred.doneUnsafe(started, Effect.void)
          },
        ),
        { startImmediately: true },
      )
      yield* Deferred.await(started)
      assert.deepStrictEqual(yield* ends(server), { code: 143, signal: null })
      const plain = yield* Fiber.join(events)
      assert.include(plain.text, '"type":"turn_aborted"')
      assert.include(plain.text, "event: ended")
      const closed = yield* Fiber.join(socket)
      assert.deepInclude(closed, { code: 1001, reason: "the server shuts down" })
      assert.isTrue(closed.messages.some((text) => text.includes("turn_aborted")))
      const { text } = yield* Fiber.join(call)
      assert.include(text, '"type":"turn_aborted"')
      assert.match(text, /"id":2,"result":/)
      assert.include((yield* Fiber.join(unread)).text, ": the server shuts down")
    }),
  )

  it.live("refuses to listen where others could reach it, and says what to do", () =>
    Effect.gen(function* () {
      const open = yield* failing("serve", "--listen", "http://0.0.0.0:0")
      assert.deepInclude(open, { code: 1, output: "" })
      assert.match(open.error, /refusing to listen on 0\.0\.0\.0 without TLS/)
      const misspelt = yield* failing("serve", "-c", "http.authentication=nobody")
      assert.match(misspelt.error, /unknown variant `nobody`.*`token`, `none`, `proxy`/s)
      const anyPage = yield* failing("serve", "-c", 'http.origins=["*"]')
      assert.match(anyPage.error, /expected an origin such as .*`http\.origins\.0`/s)
      const files = ["certificate", "key"].flatMap((name) => [
        "-c",
        `http.tls_${name}=${fixture("key.pem")}`,
      ])
      const unusable = yield* failing("serve", "--listen", "https://localhost:0", ...files)
      assert.match(unusable.error, /^colloquy: .*key\.pem, .*key\.pem: not a certificate and its/)
    }),
  )

  it.live("names a port that another process uses", () =>
    Effect.gen(function* () {
      const { url } = yield* serving("serve", "--listen", anyPort)
      const { code, error } = yield* failing("serve", "--listen", url)
      assert.strictEqual(code, 1)
      assert.match(error, /cannot listen on 127\.0\.0\.1:\d+: .*(EADDRINUSE|in use)/)
    }),
  )

  it.live("serves TLS with the configured certificate", () =>
    Effect.gen(function* () {
      const { url } = yield* serving(
        "serve",
        "--listen",
        "https://localhost:0",
        "-c",
        `http.tls_certificate=${fixture("certificate.pem")}`,
        "-c",
        `http.tls_key=${fixture("key.pem")}`,
      )
      assert.match(url, /^https:\/\/localhost:\d+$/)
      const text = yield* Effect.callback<string>((resume) => {
        const sent = httpsRequest(
          `${url}/healthz`,
          { ca: readFileSync(fixture("certificate.pem")) },
          (response) => response.on("data", (data) => resume(Effect.succeed(String(data)))),
        )
        sent.on("error", (error) => resume(Effect.die(error)))
        sent.end()
      })
      assert.strictEqual(text, '{"status":"ok"}')
    }),
  )

  it.live("lets pages of configured origins read its responses, and of no others", () =>
    Effect.gen(function* () {
      const { token, url } = yield* serving(
        "serve",
        "--listen",
        anyPort,
        "-c",
        'http.origins=["https://app.example"]',
      )
      const at = (origin: string, method = "GET") =>
        request(`${url}/v1/conversations`, { method, token, headers: { origin } })
      const allowed = yield* at("https://app.example")
      assert.strictEqual(allowed.headers.get("access-control-allow-origin"), "https://app.example")
      assert.strictEqual((yield* at("https://app.example", "OPTIONS")).status, 204)
      assert.strictEqual((yield* at("https://evil.example")).status, 403)
    }),
  )

  it.live("serves one dialect only where that is asked for", () =>
    Effect.gen(function* () {
      const mcp = yield* serving("mcp", "--listen", anyPort)
      assert.strictEqual(
        (yield* request(`${mcp.url}/mcp`, { token: mcp.token, json: initialize })).status,
        200,
      )
      assert.strictEqual(
        (yield* request(`${mcp.url}/v1/conversations`, { token: mcp.token })).status,
        404,
      )
      const app = yield* serving("app-server", "--listen", "ws://127.0.0.1:0")
      const closing = yield* Effect.forkChild(
        untilClosed(`${app.url}/any/path`, app.token, [
          { id: 1, method: "initialize", params: { clientInfo: { name: "test", version: "1" } } },
        ]),
        { startImmediately: true },
      )
      yield* Effect.sleep("300 millis")
      yield* ends(app.server)
      const { messages } = yield* Fiber.join(closing)
      assert.match(messages[0] ?? "", /"id":1,"result":/)
    }),
  )
})
