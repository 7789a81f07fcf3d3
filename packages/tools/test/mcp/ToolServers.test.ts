import type { McpServer } from "@colloquy/core/ConversationSettings"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { ServerTool } from "../../src/mcp/ServerTools.ts"
import { ToolServerError } from "../../src/mcp/ToolConnection.ts"
import { type Connecting, ToolServers } from "../../src/mcp/ToolServers.ts"

const tool = (name: string, more: Partial<ServerTool> = {}): ServerTool => ({
  name,
  inputSchema: { type: "object", properties: {} },
  ...more,
})

const configured = (command: string, env: Readonly<Record<string, string>> = {}): McpServer => ({
  transport: { _tag: "Stdio", command, args: [], env },
  startupTimeout: Duration.seconds(10),
  toolTimeout: Duration.seconds(60),
})

/** Tool servers whose configured command determines how they behave. */
const scripted =
  (log: Array<string>): Connecting =>
  (name, { transport }) =>
  () =>
    Effect.gen(function* () {
      const command = transport._tag === "Stdio" ? transport.command : ""
      log.push(`start ${name}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => log.push(`end ${name}`)))
      if (command === "hangs") return yield* Effect.never
      if (command === "fails") return yield* new ToolServerError({ message: "no" })
      return {
        tools: [
          tool("b"),
          tool("a", { description: "does a", annotations: { readOnlyHint: true } }),
        ],
        call: (called, args) =>
          called === "b"
            ? Effect.fail(new ToolServerError({ message: "broken" }))
            : Effect.delay(
                Effect.succeed({ content: [], structuredContent: { called, args } }),
                "1500 millis",
              ),
        ended: Effect.never,
        request: () => Effect.succeed({}),
        isOver: () => false,
      }
    })

describe("ToolServers", () => {
  it.effect(
    "all start at once, and one that hangs delays the others for at most its start-up time",
    () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const servers = yield* ToolServers.make(scripted(log))
        const open = yield* servers.open({
          x: configured("works"),
          h: configured("hangs"),
          f: configured("fails"),
        })
        assert.deepStrictEqual(log, [])
        const listing = yield* Effect.forkChild(open.tools)
        yield* TestClock.adjust("10 seconds")
        const { failures, tools } = yield* Fiber.join(listing)
        assert.deepStrictEqual(log.slice(0, 3), ["start x", "start h", "start f"])
        assert.deepStrictEqual(
          tools.map(({ spec }) => spec),
          [
            {
              type: "function",
              name: "x__a",
              description: "does a",
              parameters: { type: "object", properties: {} },
            },
            {
              type: "function",
              name: "x__b",
              description: "",
              parameters: { type: "object", properties: {} },
            },
          ],
        )
        assert.deepStrictEqual(failures, [
          { server: "f", message: "MCP client for `f` failed to start: no" },
          {
            server: "h",
            message: "MCP client for `h` failed to start: it did not start within 10 s",
          },
        ])
        // The next request of the turn does not wait for the tool servers that failed.
        const again = yield* open.tools
        assert.deepStrictEqual(
          again.failures.map(({ server }) => server),
          ["f", "h"],
        )
        assert.deepStrictEqual(Object.keys(yield* open.list), ["x__a", "x__b"])
        assert.deepStrictEqual(
          ["x__a", "x__b", "h__a"].map((name) => [open.has(name), open.isReadOnly(name)]),
          [
            [true, true],
            [true, false],
            [false, false],
          ],
        )
      }),
  )

  it.effect(
    "a call has an event before and after, with its duration, and returns the text for the model",
    () =>
      Effect.gen(function* () {
        const servers = yield* ToolServers.make(scripted([]))
        const open = yield* servers.open({ x: configured("works") })
        yield* open.tools
        const events: Array<EventMsg> = []
        const call = (qualifiedName: string, args: string) =>
          open.call({
            callId: "c",
            qualifiedName,
            arguments: args,
            emit: (msg) => Effect.sync(() => void events.push(msg)),
          })
        const running = yield* Effect.forkChild(call("x__a", '{"n":1}'))
        yield* TestClock.adjust("1500 millis")
        assert.strictEqual(yield* Fiber.join(running), '{"called":"a","args":{"n":1}}')
        assert.strictEqual(yield* call("x__b", " "), 'err: "tool call error: broken"')
        const a = { call_id: "c", invocation: { server: "x", tool: "a", arguments: { n: 1 } } }
        const b = { call_id: "c", invocation: { server: "x", tool: "b", arguments: null } }
        assert.deepStrictEqual(events, [
          { type: "mcp_tool_call_begin", ...a, read_only: true },
          {
            type: "mcp_tool_call_end",
            ...a,
            duration: { secs: 1, nanos: 500_000_000 },
            result: { Ok: { content: [], structuredContent: { called: "a", args: { n: 1 } } } },
          },
          { type: "mcp_tool_call_begin", ...b },
          {
            type: "mcp_tool_call_end",
            ...b,
            duration: { secs: 0, nanos: 0 },
            result: { Err: "tool call error: broken" },
          },
        ])
        assert.strictEqual(yield* call("x__c", "{}"), "unsupported call: x__c")
        assert.match(yield* call("x__a", "[]"), /^err: failed to parse function arguments: /)
        assert.strictEqual(events.length, 4)
      }),
  )

  it.effect("turns share one server per configuration, kept for a while after the last turn", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const servers = yield* ToolServers.make(scripted(log), Duration.minutes(10))
      const turn = (server: McpServer) =>
        Effect.scoped(Effect.flatMap(servers.open({ x: server }), (open) => open.tools))
      yield* turn(configured("works", { A: "1", B: "2" }))
      yield* TestClock.adjust("9 minutes")
      yield* turn(configured("works", { B: "2", A: "1" }))
      assert.deepStrictEqual(log, ["start x"])
      yield* turn(configured("works", { A: "2", B: "2" }))
      assert.deepStrictEqual(log, ["start x", "start x"])
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(log, ["start x", "start x", "end x", "end x"])
    }),
  )
})
