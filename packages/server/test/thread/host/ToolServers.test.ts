/** The MCP servers of threads and of the configuration, as clients use them without a turn. */
import { type DirectToolServers, ToolServerFailed } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ToolServerPort } from "../../../src/thread/host/ports/ToolServerPort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { type Harness, settingsWith } from "../../support/Harness.ts"
import { at, started, withThreads } from "../../support/Threading.ts"

const settings = settingsWith({
  mcp_servers: { good: { command: "good" }, bad: { command: "bad" } },
})

const look = { name: "look", inputSchema: { type: "object" } }
const resource = { uri: "a:b", name: "b" }
const template = { uriTemplate: "a:{x}", name: "x" }
const failure = new ToolServerFailed({ message: "it did not start within 10 s" })

/** Servers whose calls return what they were sent, with a record of the calls that were interrupted. */
const scripted = (interrupted: Array<string> = []): DirectToolServers => ({
  call: (_, call) => {
    switch (call.tool) {
      case "hangs":
        return Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted.push("call")))
      case "fails":
        return Effect.fail(failure)
      case "broken":
        return Effect.succeed({ content: "none" })
      default:
        return Effect.succeed({
          content: [{ type: "text", text: "seen" }],
          structuredContent: call,
          isError: true,
          _meta: { a: 1 },
          other: 2,
        })
    }
  },
  read: (_, { uri }) => Effect.succeed(uri === "a:b" ? { contents: [{ uri, text: "b" }] } : {}),
  describe: (_, toolsOnly) =>
    Effect.succeed({
      good: Result.succeed({
        tools: { look },
        resources: toolsOnly ? [] : [resource],
        resourceTemplates: toolsOnly ? [] : [template],
      }),
      bad: Result.fail(failure),
    }),
})

const withServers = (
  body: (app: Harness) => Effect.Effect<void, never, Scope.Scope>,
  servers = scripted(),
) => withThreads({ settings }, body).pipe(Effect.provideService(ToolServerPort, servers))

describe("mcpServerStatus/list", () => {
  for (const detail of ["full", "toolsAndAuthOnly", undefined]) {
    it.effect(`lists the servers with what they offer, detail ${detail ?? "not given"}`, () =>
      withServers((app) =>
        Effect.gen(function* () {
          const { data } = resultOf(yield* app.ask(1, "mcpServerStatus/list", { detail }))
          const common = { serverInfo: null, authStatus: "unsupported" }
          const isFull = detail !== "toolsAndAuthOnly"
          assert.deepStrictEqual<unknown>(data, [
            {
              name: "good",
              runtimeStatus: "ready",
              tools: { look },
              toolsError: null,
              resources: isFull ? [resource] : [],
              resourceTemplates: isFull ? [template] : [],
              ...common,
            },
            {
              name: "bad",
              runtimeStatus: "failed",
              tools: {},
              toolsError: failure.message,
              resources: [],
              resourceTemplates: [],
              ...common,
            },
          ])
        }),
      ),
    )
  }
})

let next = 0
const call = (app: Harness, params: object) =>
  Effect.flatMap(started(app, {}, `start ${next++}`), (threadId) =>
    app.ask(`call ${next++}`, "mcpServer/tool/call", { threadId, server: "good", ...params }),
  )

describe("mcpServer/tool/call", () => {
  it.effect("calls the tool with what the client gives, and returns what MCP defines", () =>
    withServers((app) =>
      Effect.gen(function* () {
        const given = { tool: "look", arguments: { a: 1 }, _meta: { b: 2 } }
        assert.deepStrictEqual(resultOf(yield* call(app, given)), {
          content: [{ type: "text", text: "seen" }],
          structuredContent: { server: "good", tool: "look", arguments: { a: 1 }, meta: { b: 2 } },
          isError: true,
          _meta: { a: 1 },
        })
        const bare = resultOf(yield* call(app, { tool: "look", arguments: null }))
        assert.deepStrictEqual(at(bare, "structuredContent"), { server: "good", tool: "look" })
      }),
    ),
  )

  it.effect("names an unknown server, a fault of the server and wrong arguments", () =>
    withServers((app) =>
      Effect.gen(function* () {
        const faults = [
          [{ server: "x", tool: "look" }, -32603, "unknown MCP server 'x'"],
          [{ server: "toString", tool: "look" }, -32603, "unknown MCP server 'toString'"],
          [{ tool: "fails" }, -32603, failure.message],
          [{ tool: "broken" }, -32603, "the result of MCP server 'good' breaks the protocol"],
          [{ tool: "look", arguments: [1] }, -32602, "params.arguments: expected an object"],
          [{ tool: "look", _meta: "m" }, -32602, "params._meta: expected an object"],
        ] as const
        for (const [params, code, message] of faults) {
          assert.deepStrictEqual(errorOf(yield* call(app, params)), { code, message })
        }
      }),
    ),
  )

  it.effect("L8 is cancelled with its connection", () => {
    const interrupted: Array<string> = []
    return withServers(
      (app) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* other.ask("hello", "initialize", { clientInfo: { name: "b", version: "1" } })
          const threadId = yield* started(other)
          yield* other.send({
            jsonrpc: "2.0",
            id: "hangs",
            method: "mcpServer/tool/call",
            params: { threadId, server: "good", tool: "hangs" },
          })
          yield* other.quiet
          assert.deepStrictEqual(interrupted, [])
          yield* other.connection.drop
          // Requests that are being answered at the end of input have this time.
          yield* TestClock.adjust("1 minute")
          yield* app.quiet
          assert.deepStrictEqual(interrupted, ["call"])
        }),
      scripted(interrupted),
    )
  })
})

describe("mcpServer/resource/read", () => {
  it.effect("reads a resource of a server of the configuration, or of a thread", () =>
    withServers((app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const read = (id: number, params: object) =>
          app.ask(id, "mcpServer/resource/read", { server: "good", uri: "a:b", ...params })
        const contents = [{ uri: "a:b", text: "b" }]
        assert.deepStrictEqual(resultOf(yield* read(1, {})), { contents })
        assert.deepStrictEqual(resultOf(yield* read(2, { threadId })), { contents })
        assert.deepStrictEqual(errorOf(yield* read(3, { server: "x" })), {
          code: -32603,
          message: "unknown MCP server 'x'",
        })
        assert.deepStrictEqual(errorOf(yield* read(4, { uri: "c:d" })), {
          code: -32603,
          message: "the result of MCP server 'good' breaks the protocol",
        })
      }),
    ),
  )
})
