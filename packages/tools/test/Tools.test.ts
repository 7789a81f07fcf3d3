import type { McpServer } from "@colloquy/core/ConversationSettings"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ToolServerError } from "../src/mcp/ToolConnection.ts"
import { type Connecting } from "../src/mcp/ToolServers.ts"
import { watched } from "./support/Context.ts"
import { toolsOf } from "./support/ScriptedServers.ts"

const configured = (command: string): McpServer => ({
  transport: { _tag: "Stdio", command, args: [], env: {} },
  startupTimeout: Duration.seconds(10),
  toolTimeout: Duration.seconds(60),
})

const connecting =
  (log: Array<string>): Connecting =>
  (name, { transport }) =>
  () =>
    Effect.gen(function* () {
      log.push(`start ${name}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => log.push(`end ${name}`)))
      if (transport._tag === "Stdio" && transport.command === "fails") {
        return yield* new ToolServerError({ message: "no" })
      }
      return {
        tools: [{ name: "t", description: "does t", inputSchema: { type: "object" } }],
        call: () => Effect.succeed({ content: [] }),
        ended: Effect.never,
        request: () => Effect.succeed({}),
        isOver: () => false,
      }
    })

describe("listMcpTools", () => {
  it.effect("lists the tools of the servers that start, and releases the servers afterwards", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      yield* Effect.gen(function* () {
        const { listMcpTools } = yield* ToolRuntime
        assert.deepStrictEqual(yield* listMcpTools(scriptedSettings({})), {})
        assert.deepStrictEqual(log, [])
        const mcpServers = { s: configured("works"), f: configured("fails") }
        assert.deepStrictEqual(yield* listMcpTools(scriptedSettings({ mcpServers })), {
          s__t: { name: "t", description: "does t", inputSchema: { type: "object" } },
        })
        assert.deepStrictEqual(log.toSorted(), ["end f", "start f", "start s"])
        yield* TestClock.adjust("5 minutes")
        assert.deepStrictEqual(log.toSorted(), ["end f", "end s", "start f", "start s"])
      }).pipe(Effect.provide(toolsOf(connecting(log))))
    }),
  )
})

describe("request_user_input", () => {
  it.effect("is offered in plan mode while a client can answer", () =>
    Effect.gen(function* () {
      const { open } = yield* ToolRuntime
      const offered = Effect.fnUntraced(function* (mode: "plan" | "default", canAsk: boolean) {
        const { context } = watched({ collaborationMode: { mode } })
        const tools = yield* open({ ...context, canRequestInput: Effect.succeed(canAsk) })
        return JSON.stringify(yield* tools.specs).includes("request_user_input")
      })
      assert.isTrue(yield* offered("plan", true))
      assert.isFalse(yield* offered("plan", false))
      assert.isFalse(yield* offered("default", true))
    }).pipe(Effect.provide(toolsOf(connecting([]))), Effect.scoped),
  )
})
