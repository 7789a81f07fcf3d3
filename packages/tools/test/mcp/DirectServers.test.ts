import type { ConversationSettings, McpServer } from "@colloquy/core/ConversationSettings"
import { ToolServerFailed } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as DirectServers from "../../src/mcp/DirectServers.ts"
import type { ToolConnection } from "../../src/mcp/ToolConnection.ts"
import { ToolServerError } from "../../src/mcp/ToolConnection.ts"
import { ToolServers } from "../../src/mcp/ToolServers.ts"

const configured: McpServer = {
  transport: { _tag: "Stdio", command: "x", args: [], env: {} },
  startupTimeout: Duration.seconds(10),
  toolTimeout: Duration.seconds(60),
}

const settings = { mcpServers: { x: configured } } as unknown as ConversationSettings
const look = { name: "look", inputSchema: { type: "object", properties: {} } }

const absent = Result.fail(new ToolServerFailed({ message: "absent" }))

/** Clients of one server, which records its starts and its requests. */
const withServer = Effect.fnUntraced(function* (request: ToolConnection["request"]) {
  const log: Array<unknown> = []
  const servers = yield* ToolServers.make(() => () => {
    log.push("start")
    return Effect.succeed({
      tools: [look],
      call: () => Effect.succeed({ content: [] }),
      request: (method, params) => {
        log.push([method, params])
        return request(method, params)
      },
      ended: Effect.never,
      isOver: () => false,
    })
  })
  const direct = DirectServers.make(servers, () => Effect.sync(() => log.push("prepared")))
  return { direct, log, servers }
})

describe("the tool servers of clients", () => {
  it.effect("a call starts the server once, which turns use too", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const result = { content: [], isError: true }
        const { direct, log, servers } = yield* withServer(() => Effect.succeed(result))
        const open = yield* servers.open({ x: configured })
        yield* open.tools
        const given = { server: "x", tool: "look", arguments: { a: 1 }, meta: { b: 2 } }
        assert.deepStrictEqual(yield* direct.call(settings, given), result)
        yield* direct.read(settings, { server: "x", uri: "a:b" })
        assert.deepStrictEqual(log, [
          "start",
          "prepared",
          ["tools/call", { name: "look", arguments: { a: 1 }, _meta: { b: 2 } }],
          "prepared",
          ["resources/read", { uri: "a:b" }],
        ])
      }),
    ),
  )

  it.effect("an interrupt cancels the call, and a fault is the server's", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let interrupted = false
        const { direct } = yield* withServer((_, { uri }) =>
          uri === "fails"
            ? Effect.fail(new ToolServerError({ message: "no" }))
            : Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true))),
        )
        const reading = yield* Effect.forkChild(direct.read(settings, { server: "x", uri: "a" }), {
          startImmediately: true,
        })
        yield* Effect.yieldNow
        yield* Fiber.interrupt(reading)
        assert.isTrue(interrupted)
        const failed = yield* Effect.flip(direct.read(settings, { server: "x", uri: "fails" }))
        assert.strictEqual(failed.message, "no")
        const unknown = yield* Effect.flip(direct.read(settings, { server: "y", uri: "a" }))
        assert.strictEqual(unknown.message, "unknown MCP server 'y'")
      }),
    ),
  )

  it.effect("a server is described with all pages of its resources, or with its tools only", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { direct, log } = yield* withServer((method, { cursor }) => {
          if (method !== "resources/list") return new ToolServerError({ message: "no templates" })
          const page = cursor === undefined ? { nextCursor: "2" } : {}
          return Effect.succeed({ resources: [{ uri: cursor ?? "1" }], ...page })
        })
        const full = yield* direct.describe(settings, false)
        assert.deepStrictEqual(Result.getOrThrow(full["x"] ?? absent), {
          tools: { look },
          resources: [{ uri: "1" }, { uri: "2" }],
          resourceTemplates: [],
        })
        const before = log.length
        const tools = yield* direct.describe(settings, true)
        assert.isTrue(tools["x"] !== undefined && Result.isSuccess(tools["x"]))
        assert.deepStrictEqual(log.slice(before), ["prepared"])
      }),
    ),
  )

  it.effect("a list that never ends is cut", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let pages = 0
        const { direct } = yield* withServer(() =>
          Effect.sync(() => ({ resources: [1], nextCursor: `${++pages}` })),
        )
        const found = yield* direct.describe(settings, false)
        const contents = Result.getOrThrow(found["x"] ?? absent)
        assert.strictEqual(contents.resources.length, 32)
      }),
    ),
  )
})
