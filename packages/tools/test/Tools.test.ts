import { defined } from "@colloquy/protocol/Defined"
import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import type { McpServer } from "@colloquy/core/ConversationSettings"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import type {
  ApprovalQuestions,
  ReviewDecision,
  ToolServerApproval,
} from "@colloquy/protocol/Policy"
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

describe("a tool of a tool server that needs an approval", () => {
  const call = {
    type: "function_call",
    call_id: "c",
    name: "x__t",
    arguments: '{"a":1}',
  } as const

  const called = (
    decision: ReviewDecision,
    toolServerApproval: ToolServerApproval,
    approvalQuestions?: ApprovalQuestions,
  ) =>
    Effect.gen(function* () {
      const { open } = yield* ToolRuntime
      const { context, events } = watched({
        approvalPolicy: "on-request",
        mcpServers: { x: configured("works") },
        toolServerApproval,
        ...defined({ approvalQuestions }),
      })
      const asked: Array<ApprovalRequest> = []
      const tools = yield* open({
        ...context,
        approve: (request) =>
          Effect.sync(() => (asked.push(request), { decision, reason: "answered" as const })),
      })
      yield* tools.specs
      const { output } = yield* tools.run(call)
      const types = events.flatMap(({ type }) => (type.startsWith("mcp_") ? [type] : []))
      return { asked, output, question: tools.questionOf?.(call), types }
    }).pipe(Effect.provide(toolsOf(connecting([]))), Effect.scoped)

  const subject = { server: "x", tool: "t", arguments: { a: 1 } }
  const types: ReadonlyArray<string> = ["mcp_tool_call_begin", "mcp_tool_call_end"]

  it.effect("is not called where the settings allow no question about it", () =>
    Effect.gen(function* () {
      const off = { sandbox: true, permissions: true, tool_servers: false }
      const refusal = "rejected: the approval policy allows no question about tool servers"
      assert.deepStrictEqual<unknown>(yield* called("approved", "auto", off), {
        asked: [],
        output: `err: "tool call error: ${refusal}"`,
        question: undefined,
        types: [...types],
      })
      const on = { sandbox: false, permissions: false, tool_servers: true }
      assert.lengthOf((yield* called("approved", "auto", on)).asked, 1)
    }),
  )

  it.effect("is asked about between the begin and the end of its call", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual<unknown>(yield* called("approved", "auto"), {
        asked: [{ _tag: "Tool", callId: "c", ...subject }],
        output: "[]",
        question: subject,
        types,
      })
    }),
  )

  it.effect("is not called when it is denied", () =>
    Effect.gen(function* () {
      const { output, types: told } = yield* called("denied", "writes")
      assert.strictEqual(output, 'err: "tool call error: rejected by user"')
      assert.deepStrictEqual<ReadonlyArray<string>>(told, types)
    }),
  )

  it.effect("is called at once where the setting approves", () =>
    Effect.gen(function* () {
      const { asked, question } = yield* called("denied", "approve")
      assert.deepStrictEqual([asked, question], [[], undefined])
    }),
  )
})
