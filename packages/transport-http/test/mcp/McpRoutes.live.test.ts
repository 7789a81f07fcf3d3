import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { guarded, RouteTable } from "../../src/guard/Guard.ts"
import { Limits } from "../../src/guard/Limits.ts"
import * as McpRoutes from "../../src/mcp/McpRoutes.ts"
import type { Serve } from "../../src/mcp/McpSessions.ts"
import { knownTokens } from "../support/Guards.ts"
import { scriptedProgram } from "../support/ScriptedProgram.ts"

type Headers = Readonly<Record<string, string>>

const headers: Headers = {
  accept: "application/json, text/event-stream",
  authorization: "Bearer secret-of-ada",
  "content-type": "application/json",
}

/** A server on the loopback interface, whose address this resolves with. */
const listening = Effect.fnUntraced(function* (serve: Serve, maxBodyBytes: number) {
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true,
  })
  const app = yield* HttpRouter.toHttpEffect(
    guarded(McpRoutes.layer(serve), { maxBodyBytes }).pipe(
      Layer.provide([HttpServer.layerServices, knownTokens, Limits.layer(), RouteTable.layer]),
    ),
  )
  yield* server.serve(app)
  const { port } = node.address() as AddressInfo
  return `http://127.0.0.1:${port}/mcp`
})

/** A program, and when it has handled a text that contains the part. */
const noticing = (...parts: ReadonlyArray<string>) => {
  const seen = parts.map((part) => ({ part, found: Deferred.makeUnsafe<void>() }))
  const program = scriptedProgram((text) => {
    for (const { found, part } of seen) {
      if (text.includes(part)) Deferred.doneUnsafe(found, Effect.void)
    }
  })
  return { program, seen: seen.map(({ found }) => Deferred.await(found)) }
}

const post = (
  url: string,
  body: string | ReadableStream,
  more: Headers = {},
  signal?: AbortSignal,
) =>
  Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, ...more },
      body,
      ...(signal === undefined ? {} : { signal }),
      ...(typeof body === "string" ? {} : { duplex: "half" }),
    }),
  )

const textOf = (response: Response) => Effect.promise(() => response.text())

const message = (id: number, method: string, params: unknown = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

describe("MCP over a socket", () => {
  it.live("serves a session with a stream that ends with its response", () =>
    Effect.gen(function* () {
      const { program, seen } = noticing('"wait"')
      const url = yield* listening(program.serve, 1000)
      const opened = yield* post(url, message(0, "initialize", { protocolVersion: "2025-11-25" }))
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
      assert.strictEqual(opened.status, 200)
      yield* textOf(opened)
      yield* Effect.forkChild(
        Effect.gen(function* () {
          yield* seen[0] ?? Effect.void
          yield* program.tell(0, "one")
          yield* program.respond(0, "two")
        }),
      )
      const call = yield* post(url, message(1, "wait"), session)
      assert.strictEqual(call.headers.get("content-type"), "text/event-stream")
      const text = yield* textOf(call)
      assert.match(text, /"text":"one"[\s\S]*"text":"two"/)
      assert.strictEqual((yield* post(url, "x".repeat(1001), session)).status, 413)
      const chunks = new Blob(["x".repeat(2000)]).stream()
      assert.strictEqual((yield* post(url, chunks, session)).status, 413)
    }),
  )

  it.live("cancels a request of 2026-07-28 when the client disconnects", () =>
    Effect.gen(function* () {
      const { program, seen } = noticing('"wait"', "notifications/cancelled")
      const [waits = Effect.void, cancelled = Effect.void] = seen
      const url = yield* listening(program.serve, 1000)
      const version = "2026-07-28"
      const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": version } }
      const more = { "mcp-protocol-version": version, "mcp-method": "wait" }
      yield* Effect.forkChild(Effect.andThen(waits, () => program.tell(0, "one")))
      const client = new AbortController()
      const call = yield* post(url, message(1, "wait", meta), more, client.signal)
      assert.strictEqual(call.status, 200)
      client.abort()
      yield* cancelled
    }),
  )
})
