/** Export of spans, metrics and the log, and `/metrics`: the built program and a receiver of OTLP on a socket. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { WebSocket } from "@effect/platform-node/NodeWS"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home as makeHome } from "./support/Home.ts"
import { request, startHttp } from "./support/HttpProcess.ts"
import { attributeOf, otlpReceiver, type ReceivedSpan } from "./support/OtlpReceiver.ts"
import * as Server from "./support/Server.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"
const traceparent = `00-${traceId}-${spanId}-01`

const configOf = (url: string, more = "") => `
[telemetry]
otlp_endpoint = "${url}/"
otlp_protocol = "json"
export_interval_ms = 100
otlp_headers = { "x-team" = "one" }
otlp_env_headers = { "x-key" = "OTLP_KEY" }
${more}
`

const isTurn = ({ name }: ReceivedSpan): boolean => name === "invoke_agent colloquy"

describe("telemetry of the built program", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live("mcp exports the spans and the metrics of a turn to the configured address", () =>
    Effect.gen(function* () {
      const receiver = yield* otlpReceiver
      const home = yield* makeHome({ "config.toml": configOf(receiver.url) })
      const server = yield* Server.ready({ home, env: { OTLP_KEY: "secret-of-collector" } })
      server.send({
        id: 2,
        method: "tools/call",
        params: {
          name: "codex",
          arguments: { prompt: "run: printenv", "approval-policy": "never" },
          _meta: { traceparent },
        },
      })
      const { result } = yield* server.answer(2)
      assert.notInclude(JSON.stringify(result), "secret-of-collector")
      assert.notInclude(JSON.stringify(server.frames), "secret-of-collector")
      yield* receiver.until(
        () =>
          receiver.spans().some(isTurn) &&
          receiver.received().some(({ path }) => path === "/v1/metrics"),
      )
      const spans = receiver.spans()
      const turn = spans.find(isTurn)
      assert.deepInclude(turn, { traceId, parentSpanId: spanId })
      assert.isDefined(turn)
      assert.strictEqual(attributeOf(turn, "gen_ai.operation.name"), "invoke_agent")
      assert.strictEqual(
        attributeOf(turn, "gen_ai.conversation.id"),
        result?.structuredContent?.threadId,
      )
      const names = spans.map(({ name }) => name)
      assert.include(names, "execute_tool shell")
      assert.isTrue(names.some((name) => name.startsWith("chat ")))
      for (const span of spans) assert.strictEqual(span.traceId, traceId, span.name)
      for (const { headers } of receiver.received()) {
        assert.deepInclude(headers, { "x-team": "one", "x-key": "secret-of-collector" })
      }
      // Neither the prompt nor the log is exported.
      assert.notInclude(JSON.stringify(receiver.received()), "printenv")
      assert.notInclude(
        receiver.received().map(({ path }) => path),
        "/v1/logs",
      )
    }),
  )

  it.live("what is not exported yet is exported when the client disconnects", () =>
    Effect.gen(function* () {
      const receiver = yield* otlpReceiver
      const config = configOf(receiver.url).replace("= 100", "= 600000")
      const server = yield* Server.ready({ home: yield* makeHome({ "config.toml": config }) })
      server.call(1, "codex", { prompt: "hi" })
      yield* server.answer(1)
      assert.isEmpty(receiver.spans())
      server.child.stdin.end()
      assert.deepInclude(yield* server.exit, { code: 0 })
      assert.isTrue(receiver.spans().some(isTurn))
    }),
  )

  it.live("a collector that does not respond delays neither turns nor the end by much", () =>
    Effect.gen(function* () {
      const home = yield* makeHome({ "config.toml": configOf("http://127.0.0.1:9") })
      const server = yield* Server.ready({ home })
      server.call(1, "codex", { prompt: "hi" })
      assert.isUndefined((yield* server.answer(1)).error)
      server.child.stdin.end()
      assert.deepInclude(yield* server.exit, { code: 0 })
    }),
  )

  it.live("a misspelt key and an address that is none keep the server from starting", () =>
    Effect.gen(function* () {
      for (const [config, error] of [
        [`[telemetry]\notlp_endpont = "http://x"\n`, "did you mean `otlp_endpoint`"],
        [`[telemetry]\notlp_endpoint = "collector"\n`, "http://127.0.0.1:4318"],
        [`[telemetry]\nsignals = ["spans"]\n`, "`traces`, `metrics`, `logs`"],
      ] as const) {
        const server = yield* Server.start({ home: yield* makeHome({ "config.toml": config }) })
        assert.deepInclude(yield* server.exit, { code: 1 })
        assert.include(server.stderr(), error)
        assert.include(server.stderr(), "telemetry")
      }
    }),
  )

  it.live(
    "serve has /metrics for those who have the token, and continues the trace of a request",
    () =>
      Effect.gen(function* () {
        const receiver = yield* otlpReceiver
        const home = yield* makeHome({ "config.toml": configOf(receiver.url) })
        const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0"])
        const url = yield* server.url
        const token = readFileSync(`${home}/http-token`, "utf8").trim()
        assert.strictEqual((yield* request(`${url}/metrics`)).status, 401)
        const created = yield* request(`${url}/v1/conversations`, { token, json: {} })
        const { conversationId } = JSON.parse(created.text) as { readonly conversationId: string }
        const turn = yield* request(`${url}/v1/conversations/${conversationId}/turns?wait=true`, {
          token,
          json: { input: "hi" },
          headers: { traceparent },
        })
        assert.strictEqual(turn.status, 200)
        yield* receiver.until(() => receiver.spans().some(isTurn))
        assert.deepInclude(receiver.spans().find(isTurn), { traceId, parentSpanId: spanId })
        const scrape = yield* request(`${url}/metrics`, { token })
        assert.strictEqual(scrape.status, 200)
        assert.match(scrape.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
        const lines = scrape.text.split("\n")
        assert.include(lines, `colloquy_turns_total{outcome="completed"} 1`)
        assert.include(lines, "colloquy_conversations_loaded 1")
        assert.isTrue(lines.some((line) => line.startsWith("gen_ai_client_token_usage_sum{")))
      }),
  )

  it.live("the turn of a request over /mcp, /ws and /v1 is a child of the span in its header", () =>
    Effect.gen(function* () {
      const receiver = yield* otlpReceiver
      const home = yield* makeHome({ "config.toml": configOf(receiver.url) })
      const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0"])
      const url = yield* server.url
      const token = readFileSync(`${home}/http-token`, "utf8").trim()
      const spans: Array<string> = []
      const named = () => {
        const id = `${spans.length + 1}`.repeat(16)
        spans.push(id)
        return { traceparent: `00-${traceId}-${id}-01` }
      }
      const call = (id: number, meta: object) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "codex", arguments: { prompt: "hi" }, ...meta },
      })
      const clientInfo = { name: "test", version: "1" }
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
      const opened = yield* request(`${url}/mcp`, {
        token,
        json: { jsonrpc: "2.0", id: 1, method: "initialize", params },
      })
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
      const inSession = { ...session, ...named() }
      yield* request(`${url}/mcp`, { token, json: call(2, {}), headers: inSession })
      yield* request(`${url}/mcp`, {
        token,
        json: call(3, {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": clientInfo,
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        }),
        headers: {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "codex",
          ...named(),
        },
      })
      const created = yield* request(`${url}/v1/conversations`, { token, json: {} })
      const { conversationId } = JSON.parse(created.text) as { readonly conversationId: string }
      yield* request(`${url}/v1/conversations/${conversationId}/turns?wait=true`, {
        token,
        json: { input: "hi" },
        headers: named(),
      })
      const upgrade = { authorization: `Bearer ${token}`, ...named() }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: upgrade })
          const items = [{ type: "text", data: { text: "hi" } }]
          socket.on("open", () => {
            for (const message of [
              { id: 1, method: "initialize", params: { clientInfo } },
              { method: "initialized" },
              { id: 2, method: "sendUserMessage", params: { conversationId, items } },
            ]) {
              socket.send(JSON.stringify(message))
            }
          })
          return socket
        }),
        (socket) => Effect.sync(() => socket.terminate()),
      )
      const parents = () =>
        receiver
          .spans()
          .filter(isTurn)
          .map(({ parentSpanId }) => parentSpanId)
      yield* receiver.until(() => parents().length === spans.length)
      assert.sameMembers(parents(), spans)
    }),
  )

  it.live("serve has /metrics also where nothing is exported", () =>
    Effect.gen(function* () {
      const home = yield* makeHome()
      const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0"])
      const url = yield* server.url
      const token = readFileSync(`${home}/http-token`, "utf8").trim()
      const scrape = yield* request(`${url}/metrics`, { token })
      assert.strictEqual(scrape.status, 200)
      assert.include(scrape.text, `colloquy_turns_total{outcome="failed"} 0`)
    }),
  )
})
