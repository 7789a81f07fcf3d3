import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { asking, exec, initialize, oneCall, questionId, result } from "../../support/Asking.ts"
import { cancelled, listed, toolCall, withServer } from "../../support/Harness.ts"
import { codex, lines, progressOf, rises, withToken } from "../../support/Progress.ts"
import type { WireMessage } from "../../support/Wire.ts"

const isResult = (id: unknown) => (message: WireMessage) =>
  message.method === undefined && message.id === id

const hang: Script.ProviderScript = Script.byLastUserText([
  ["hang", Script.reply(Script.bareDeltas("a"), Script.hang)],
  ["", Script.reply(Script.text("done"))],
])

/** A tool that emits every kind of item. */
const busy = ToolRuntime.simple({
  specs: () => [],
  run: (_, { emit }) =>
    Effect.gen(function* () {
      const command = ["bash", "-lc", "npm\n test"]
      yield* emit({ type: "exec_command_begin", call_id: "1", command, cwd: "/w" })
      const duration = { secs: 0, nanos: 0 }
      yield* emit({
        type: "exec_command_end",
        call_id: "1",
        stdout: "",
        stderr: "",
        exit_code: 1,
        duration,
      })
      const changes = { "/a": { add: { content: "" } }, "/b": { add: { content: "" } } }
      yield* emit({ type: "patch_apply_begin", call_id: "2", auto_approved: true, changes })
      const applied = { call_id: "2", stdout: "", stderr: "", success: true }
      yield* emit({ type: "patch_apply_end", ...applied })
      const plan = [
        { step: "read", status: "completed" as const },
        { step: "write", status: "in_progress" as const },
      ]
      yield* emit({ type: "plan_update", explanation: null, plan })
      const invocation = { server: "files", tool: "read", arguments: null }
      yield* emit({ type: "mcp_tool_call_begin", call_id: "3", invocation })
      const result = { Err: "gone" }
      yield* emit({ type: "mcp_tool_call_end", call_id: "3", invocation, duration, result })
      return "ok"
    }),
})

describe("notifications/progress", () => {
  it.effect("L2 rises with a short line at every item, and none is sent after the result", () =>
    withServer({ script: oneCall, tools: busy }, (server) =>
      Effect.gen(function* () {
        yield* server.send(codex(2, "go", "tok"))
        yield* server.response(2)
        yield* TestClock.adjust("1 minute")
        yield* server.quiet
        assert.deepStrictEqual(
          progressOf(server),
          [
            "turn begun",
            "running `npm test`",
            "command ended with exit code 1",
            "applying a patch to 2 files",
            "patch applied",
            "plan: 1 of 2 steps done, now: write",
            "calling files.read",
            "files.read failed",
            "message: done",
          ].map((message, i) => ({ progressToken: "tok", progress: i + 1, message })),
        )
        assert.isTrue(server.messages.findIndex(isResult(2)) === server.messages.length - 1)
      }),
    ),
  )

  it.effect("none is sent without a token, nor with null as the token", () =>
    withServer({ script: hang }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(1, "codex", { prompt: "hang" }), codex(2, "hang", null))
        yield* server.quiet
        yield* TestClock.adjust("5 minutes")
        yield* server.quiet
        assert.deepStrictEqual(progressOf(server), [])
      }),
    ),
  )

  it.effect("a silent turn is reported every ten seconds, with rising numbers", () =>
    withServer({ script: hang }, (server) =>
      Effect.gen(function* () {
        yield* server.send(codex(2, "hang", 7))
        yield* server.quiet
        for (let s = 0; s < 180; s++) {
          const before = progressOf(server).length
          yield* TestClock.adjust("1 second")
          yield* server.quiet
          assert.strictEqual(progressOf(server).length - before, s % 10 === 9 ? 1 : 0, `${s} s`)
        }
        assert.deepStrictEqual(lines(server).slice(0, 3), [
          "turn begun",
          "turn begun (10 s)",
          "turn begun (20 s)",
        ])
        assert.isTrue(rises(progressOf(server).map(({ progress }) => progress)))
      }),
    ),
  )

  it.effect("deltas do not count as progress: the reminder is still sent", () => {
    const drip = Array.from({ length: 30 }, () => [
      Script.bareDeltas("a"),
      Script.delay("1 second"),
    ]).flat()
    return withServer({ script: [Script.reply(...drip, Script.hang)] }, (server) =>
      Effect.gen(function* () {
        yield* server.send(codex(2, "drip", 7))
        yield* server.quiet
        for (let s = 0; s < 25; s++) {
          yield* TestClock.adjust("1 second")
          yield* server.quiet
        }
        assert.deepStrictEqual(lines(server), [
          "turn begun",
          "turn begun (10 s)",
          "turn begun (20 s)",
        ])
      }),
    )
  })

  it.effect("continues while a person is asked, and while an earlier turn is running", () => {
    const asked = asking([exec])
    const tools = asked.tools
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }))
        yield* server.send(codex(2, "ask", "first"))
        yield* server.quiet
        const [threadId] = yield* listed(server.manager)
        const reply = toolCall(3, "codex-reply", { threadId, prompt: "later" })
        yield* server.send(withToken(reply, "second"))
        yield* server.quiet
        yield* TestClock.adjust("20 seconds")
        yield* server.quiet
        assert.deepStrictEqual(
          [lines(server, "first"), lines(server, "second")],
          [
            [
              "turn begun",
              "asking whether to run `touch made.txt`",
              "asking whether to run `touch made.txt` (10 s)",
              "asking whether to run `touch made.txt` (20 s)",
            ],
            ["waiting (10 s)", "waiting (20 s)"],
          ],
        )
        yield* server.send(result(questionId(server), { action: "accept" }))
        yield* server.response(3)
        assert.include(lines(server, "first"), "decided: approved")
        assert.include(lines(server, "second"), "message: later")
      }),
    )
  })

  it.effect("none is sent after a cancellation, although its pending question ends with it", () => {
    const { tools } = asking([exec])
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }), codex(2, "ask", 7))
        yield* server.quiet
        yield* server.send(cancelled(2))
        yield* server.quiet
        yield* TestClock.adjust("1 minute")
        yield* server.quiet
        assert.deepStrictEqual(lines(server), [
          "turn begun",
          "asking whether to run `touch made.txt`",
        ])
      }),
    )
  })
})
