/** The forms of tool servers, which the client of a thread fills in. */
import type { ElicitationAnswer } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { oneCall } from "../support/Asking.ts"
import type { Harness } from "../support/Harness.ts"
import { asked, at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const method = "mcpServer/elicitation/request"

const requestedSchema = {
  type: "object",
  properties: { colour: { type: "string", enum: ["red", "blue"] } },
  required: ["colour"],
}

/** A model that calls a tool whose server sends a form, and the answers that the server got. */
const asking = () => {
  const answers: Array<ElicitationAnswer> = []
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (_, { elicit }) =>
      Effect.map(
        elicit({ server: "lab", message: "Which colour?", requestedSchema }),
        (given) => (answers.push(given), "asked"),
      ),
  })
  return { answers, script: oneCall, tools }
}

/** A thread whose tool server has asked. */
const questioned = Effect.fnUntraced(function* (app: Harness) {
  const threadId = yield* started(app)
  const turnId = yield* turn(app, threadId)
  yield* app.quiet
  return { threadId, turnId, request: asked(app, method) }
})

/** What a client sends, and what the tool server gets. Those of the recording `app_mcp_elicit_decline` and of `app_mcp_tools`. */
const outcomes: ReadonlyArray<readonly [string, object, ElicitationAnswer]> = [
  [
    "accept",
    { result: { action: "accept", content: { colour: "red" }, _meta: null } },
    { action: "accept", content: { colour: "red" } },
  ],
  ["decline", { result: { action: "decline", content: null, _meta: null } }, { action: "decline" }],
  ["cancel", { result: { action: "cancel" } }, { action: "cancel" }],
  ["an error", { error: { code: -1, message: "no" } }, { action: "decline" }],
  ["another shape", { result: { foo: 1 } }, { action: "decline" }],
]

describe("mcpServer/elicitation/request", () => {
  for (const [what, answer, given] of outcomes) {
    it.effect(`${what} reaches the tool server as ${given.action}, and the turn goes on`, () => {
      const { answers, ...options } = asking()
      return withThreads(options, (app) =>
        Effect.gen(function* () {
          const { request, threadId, turnId } = yield* questioned(app)
          const { message, ...params } = request.params ?? {}
          assert.deepStrictEqual<unknown>(params, {
            threadId,
            turnId,
            serverName: "lab",
            mode: "form",
            _meta: null,
            requestedSchema,
          })
          assert.include(String(message), "Which colour?")
          const before = app.messages.length
          assert.deepStrictEqual(at(told(app, "thread/status/changed").at(-1), "status"), {
            type: "active",
            activeFlags: ["waitingOnApproval"],
          })
          yield* app.send({ id: request.id, ...answer })
          yield* app.quiet
          assert.deepStrictEqual(answers, [given])
          assert.deepStrictEqual(lines(app, before).slice(0, 2), [
            "serverRequest/resolved",
            "thread/status/changed active",
          ])
          assert.strictEqual(at(told(app, "turn/completed"), 0, "turn", "status"), "completed")
        }),
      )
    })
  }

  it.effect("L14 an interrupt withdraws the form, which is declined", () => {
    const { answers, ...options } = asking()
    return withThreads(options, (app) =>
      Effect.gen(function* () {
        const { request, threadId, turnId } = yield* questioned(app)
        yield* app.ask("stop", "turn/interrupt", { threadId, turnId })
        yield* app.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [
          { threadId, requestId: request.id },
        ])
        assert.deepStrictEqual(answers, [{ action: "decline" }])
        assert.strictEqual(at(told(app, "turn/completed"), 0, "turn", "status"), "interrupted")
      }),
    )
  })
})
