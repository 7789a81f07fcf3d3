import type { McpServer } from "@colloquy/core/ConversationSettings"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Ask } from "../../src/mcp/ToolConnection.ts"
import { ToolServers } from "../../src/mcp/ToolServers.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"

interface Seen {
  readonly method: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

type Reply = (response: Http.ServerResponse, id: unknown) => void

const json: (result: unknown) => Reply = (result) => (response, id) => {
  response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "session-1" })
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
}

const status =
  (code: number): Reply =>
  (response) => {
    response.writeHead(code, { "content-type": "text/plain" })
    response.end("token sk-secret is wrong")
  }

const sse = (response: Http.ServerResponse, message: object) =>
  response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`)

const tools = ["echo", "hang", "flood", "nothing", "ask", "array", "array_event", "progress"].map(
  (name) => ({
    name,
    inputSchema: { type: "object" },
  }),
)

/** A tool server on the loopback; `overrides` by JSON-RPC method. */
const startServer = (overrides: Readonly<Record<string, Reply>> = {}) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly url: string
      readonly seen: Array<Seen>
      readonly stop: () => void
    }>((resume) => {
      const seen: Array<Seen> = []
      let waiting: ((answer: unknown) => void) | undefined
      const calls: Readonly<Record<string, Reply>> = {
        echo: json({ content: [{ type: "text", text: "hi" }] }),
        hang: (response) => void response.writeHead(200, { "content-type": "text/event-stream" }),
        nothing: (response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.end()
        },
        array: (response, id) => {
          response.writeHead(200, { "content-type": "application/json" })
          const result = { content: [{ type: "text", text: "hi" }] }
          response.end(JSON.stringify([{ method: "n" }, { jsonrpc: "2.0", id, result }]))
        },
        array_event: (response, id) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          const result = { content: [{ type: "text", text: "hi" }] }
          response.end(`data: ${JSON.stringify([{ jsonrpc: "2.0", id, result }])}\n\n`)
        },
        flood: (response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          const more = () => {
            for (let i = 0; i < 100; i++) {
              sse(response, { method: "notifications/message", params: { data: "x".repeat(1e4) } })
            }
            if (!response.destroyed) response.once("drain", more)
          }
          more()
        },
        progress: (response, id) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          const report = (progressToken: unknown, progress: unknown) =>
            sse(response, {
              method: "notifications/progress",
              params: { progressToken, progress, total: 2, message: "half" },
            })
          report("another", 9)
          report(id, "no number")
          report(id, 1)
          sse(response, { id, result: { content: [{ type: "text", text: "hi" }] } })
          response.end()
        },
        ask: (response, id) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          waiting = (answer) => {
            const text = JSON.stringify(answer)
            sse(response, { id, result: { content: [{ type: "text", text }] } })
            response.end()
          }
          sse(response, { method: "notifications/progress", params: {} })
          sse(response, { id: 1, method: "elicitation/create", params: { message: "Age?" } })
        },
      }
      const replies: Readonly<Record<string, Reply>> = {
        initialize: json({ protocolVersion: "2025-06-18", capabilities: { tools: {} } }),
        "tools/list": json({ tools }),
        ...overrides,
      }
      const server = Http.createServer((request, response) => {
        let text = ""
        request.on("data", (chunk) => (text += String(chunk)))
        request.on("end", () => {
          const body = text === "" ? {} : JSON.parse(text)
          seen.push({ method: request.method ?? "", headers: request.headers, body })
          const name = body.method === "tools/call" ? body.params.name : ""
          const reply = replies[body.method] ?? calls[name]
          if (reply !== undefined) return reply(response, body.id)
          if ("result" in body) waiting?.(body.result)
          response.writeHead(202)
          response.end()
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const stop = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/mcp?key=sk-secret`, seen, stop }))
      })
    }),
    ({ stop }) => Effect.sync(stop),
  )

const configured = (url: string, bearerTokenEnv?: string): McpServer => ({
  transport: {
    _tag: "Http",
    url,
    headers: { "x-team": "blue" },
    ...(bearerTokenEnv === undefined ? {} : { bearerTokenEnv }),
  },
  startupTimeout: Duration.seconds(5),
  toolTimeout: Duration.seconds(20),
})

const layer = ToolServers.layer().pipe(
  Layer.provide(TrustedPrograms.layer({ environment: {} })),
  Layer.provide(NodeServices.layer),
)

const open = (server: McpServer, ask?: Ask) =>
  Effect.gen(function* () {
    const servers = yield* ToolServers
    const opened = yield* servers.open({ web: server }, ask)
    const { failures } = yield* opened.tools
    const events: Array<EventMsg> = []
    const call = (tool: string) =>
      opened.call({
        callId: "c",
        qualifiedName: `web__${tool}`,
        arguments: "",
        emit: (msg) => Effect.sync(() => void events.push(msg)),
      })
    return { call, events, failures: failures.map(({ message }) => message) }
  })

const textOutput = (text: string) => JSON.stringify([{ type: "text", text }])

describe("ToolServers over HTTP", () => {
  it.live(
    "calls are sent with the headers, the token, the session and the negotiated revision",
    () =>
      Effect.gen(function* () {
        const { seen, url } = yield* startServer()
        yield* Effect.gen(function* () {
          const { call, failures } = yield* open(configured(url, "WEB_TOKEN"))
          assert.deepStrictEqual(failures, [])
          assert.strictEqual(yield* call("echo"), textOutput("hi"))
        }).pipe(Effect.scoped, Effect.provide(layer))
        assert.deepStrictEqual(
          seen.map(({ body, method }) => body["method"] ?? method),
          ["initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"],
        )
        const [initialize, ...later] = seen
        assert.deepNestedInclude(initialize?.body, { "params.capabilities": { elicitation: {} } })
        for (const { headers } of later) {
          assert.strictEqual(headers["authorization"], "Bearer tok-1")
          assert.strictEqual(headers["x-team"], "blue")
          assert.strictEqual(headers["mcp-session-id"], "session-1")
          assert.strictEqual(headers["mcp-protocol-version"], "2025-06-18")
        }
      }).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ WEB_TOKEN: "tok-1\n" }))),
      ),
  )

  it.live("a question in the stream of a response is put to a person", () =>
    Effect.gen(function* () {
      const { url } = yield* startServer()
      const ask: Ask = ({ message }) =>
        Effect.succeed({ action: "accept", content: { message, age: 7 } })
      const { call } = yield* open(configured(url), ask)
      assert.strictEqual(
        yield* call("ask"),
        textOutput('{"action":"accept","content":{"message":"Age?","age":7}}'),
      )
    }).pipe(Effect.provide(layer)),
  )

  it.live("the progress of a call is reported before its end", () =>
    Effect.gen(function* () {
      const { url } = yield* startServer()
      const { call, events } = yield* open(configured(url))
      assert.strictEqual(yield* call("progress"), textOutput("hi"))
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["mcp_tool_call_begin", "mcp_tool_call_progress", "mcp_tool_call_end"],
      )
      assert.deepStrictEqual<unknown>(events[1], {
        type: "mcp_tool_call_progress",
        call_id: "c",
        progress: 1,
        total: 2,
        message: "half",
      })
    }).pipe(Effect.provide(layer)),
  )

  it.live(
    "L13 an HTTP server that floods is stopped with the reason, and arrays of messages are read",
    () =>
      Effect.gen(function* () {
        const { url } = yield* startServer()
        const { call } = yield* open(configured(url))
        assert.match(
          yield* call("flood"),
          /^err: "tool call error: the tool server `web` was stopped: it sent more than 32 MiB that belongs to no call /,
        )
        assert.strictEqual(yield* call("array"), textOutput("hi"))
        assert.strictEqual(yield* call("array_event"), textOutput("hi"))
        assert.strictEqual(
          yield* call("nothing"),
          'err: "tool call error: the server\'s response held no answer"',
        )
        assert.strictEqual(yield* call("echo"), textOutput("hi"))
      }).pipe(Effect.provide(layer)),
  )

  it.live("L14 an interrupted call ends at once and the server is notified", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* startServer()
      const { call } = yield* open(configured(url))
      const fiber = yield* Effect.forkChild(call("hang"))
      yield* Effect.sleep("200 millis")
      const [took] = yield* Effect.timed(Fiber.interrupt(fiber))
      // A loaded machine takes its time; the time limit of the call is six times this.
      assert.isBelow(Duration.toMillis(took), 10_000)
      yield* Effect.sleep("200 millis")
      const { body } = seen.at(-1) ?? {}
      const called = seen.find((each) => each.body["method"] === "tools/call")
      assert.deepStrictEqual(body, {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: called?.body["id"] },
      })
    }).pipe(Effect.provide(layer)),
  )

  it.live("the next call starts a new session when the server forgot the old one", () =>
    Effect.gen(function* () {
      let forgotten = false
      const { seen, url } = yield* startServer({
        "tools/call": (response, id) => {
          if (forgotten) return json({ content: [] })(response, id)
          forgotten = true
          status(404)(response, id)
        },
      })
      const { call } = yield* open(configured(url))
      assert.match(
        yield* call("echo"),
        /^err: "tool call error: the tool server `web` ended the session/,
      )
      assert.strictEqual(yield* call("echo"), "[]")
      assert.lengthOf(
        seen.filter(({ body }) => body["method"] === "initialize"),
        2,
      )
    }).pipe(Effect.provide(layer)),
  )

  it.live("no failure quotes a secret", () =>
    Effect.gen(function* () {
      const refuses = yield* startServer({ initialize: status(401) })
      const stopped = yield* startServer()
      stopped.stop()
      const failed = "MCP client for `web` failed to start: "
      const failuresOf = (server: McpServer) => Effect.map(open(server), ({ failures }) => failures)
      assert.deepStrictEqual(yield* failuresOf(configured(refuses.url)), [
        `${failed}the server answered with HTTP status 401`,
      ])
      assert.deepStrictEqual(yield* failuresOf(configured(stopped.url)), [
        `${failed}${new URL(stopped.url).origin} cannot be reached`,
      ])
      assert.deepStrictEqual(yield* failuresOf(configured("file:///etc/passwd")), [
        `${failed}its \`url\` is no http or https URL`,
      ])
      assert.deepStrictEqual(yield* failuresOf(configured(refuses.url, "NO_SUCH_TOKEN")), [
        `${failed}the variable NO_SUCH_TOKEN holds no usable token`,
      ])
    }).pipe(Effect.provide(layer)),
  )
})
