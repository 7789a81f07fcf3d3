/** The approvals of calls of tools of tool servers. */
import type { Verdict } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { oneCall } from "../support/Asking.ts"
import { asked, at, started, told, turn, withThreads } from "../support/Threading.ts"

const method = "mcpServer/elicitation/request"

/** A model that calls a tool of a tool server, and how each call was decided. */
const calling = () => {
  const verdicts: Array<Verdict["decision"]> = []
  const approvals: Array<unknown> = []
  const invocation = { server: "lab", tool: "write", arguments: { text: "x" } }
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (call, { approve, emit, settings }) => {
      const callId = call.call_id ?? ""
      approvals.push(settings.toolServerApproval)
      return Effect.gen(function* () {
        yield* emit({ type: "mcp_tool_call_begin", call_id: callId, invocation, read_only: false })
        const { decision } = yield* approve({
          _tag: "Tool",
          callId,
          ...invocation,
          annotations: { readOnlyHint: false },
        })
        verdicts.push(decision)
        const result = { Err: decision }
        yield* emit({
          type: "mcp_tool_call_end",
          call_id: callId,
          invocation,
          duration: { secs: 0, nanos: 0 },
          result,
        })
        return decision
      })
    },
  })
  return { approvals, verdicts, script: oneCall, tools }
}

describe("the approval of a call of a tool server", () => {
  it.effect("is asked about with the tool, its hints and its arguments", () => {
    const { approvals, verdicts: _, ...options } = calling()
    return withThreads(options, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { message, ...params } = asked(app, method).params ?? {}
        assert.deepStrictEqual<unknown>(params, {
          threadId,
          turnId,
          serverName: "lab",
          mode: "form",
          _meta: {
            codex_approval_kind: "mcp_tool_call",
            persist: ["session"],
            tool_name: "write",
            tool_annotations: { readOnlyHint: false },
            tool_params: { text: "x" },
            tool_params_display: [{ name: "text", value: "x", display_name: "text" }],
          },
          requestedSchema: { type: "object", properties: {} },
        })
        assert.match(String(message), /^Allow Codex to call `write` of tool server `lab`\?\n/)
        assert.deepStrictEqual(approvals, ["auto"])
        const [item] = told(app, "item/started").flatMap((one) =>
          at(one, "item", "type") === "mcpToolCall" ? [at(one, "item")] : [],
        )
        assert.strictEqual(at(item, "readOnlyHint"), false)
      }),
    )
  })

  it.effect.each([
    [{ result: { action: "accept", content: {}, _meta: null } }, "approved"],
    [{ result: { action: "accept", _meta: { persist: "session" } } }, "approved_for_session"],
    [{ result: { action: "decline" } }, "denied"],
    [{ result: { action: "cancel" } }, "denied"],
    [{ error: { code: -1, message: "no" } }, "denied"],
  ] as const)("%j: the call is %s, and the turn goes on", ([answer, decision]) => {
    const { verdicts, ...options } = calling()
    return withThreads(options, (app) =>
      Effect.gen(function* () {
        yield* turn(app, yield* started(app))
        yield* app.quiet
        yield* app.send({ id: asked(app, method).id, ...answer })
        yield* app.quiet
        assert.deepStrictEqual(verdicts, [decision])
        assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "completed")
      }),
    )
  })
})
