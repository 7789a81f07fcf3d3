/** The agent's questions to the user. */
import type { UserInputAnswer } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { created, listening, resultOf, say, withApp } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { asked, at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const method = "item/tool/requestUserInput"
const answers = { colour: { answers: ["Red"] } }
const options = [
  { label: "Red", description: "warm" },
  { label: "Blue", description: "cold" },
]

/** A tool that asks one question, and what it was answered. */
const asking = () => {
  const given: Array<UserInputAnswer> = []
  const tools = ToolRuntime.simple({
    specs: () => [],
    run: (call, { requestInput }) =>
      Effect.map(
        requestInput({
          callId: call.call_id ?? "",
          questions: [
            {
              id: "colour",
              header: "Colour",
              question: "Which colour?",
              is_other: true,
              is_secret: false,
              options,
            },
          ],
        }),
        (answer) => {
          given.push(answer)
          return JSON.stringify(answer)
        },
      ),
  })
  return { given, tools }
}

const script = [Script.reply(Script.toolCall("ask", {}, "c")), Script.reply(Script.text("done"))]

const flags = (app: Harness) =>
  told(app, "thread/status/changed").map((one) => at(one, "status", "activeFlags"))

describe("item/tool/requestUserInput", () => {
  it.effect("asks, with a flag of the status, and gives the answers to the tool", () => {
    const { given, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { id, params } = asked(app, method)
        assert.deepStrictEqual<unknown>(params, {
          threadId,
          turnId,
          itemId: "c",
          questions: [
            {
              id: "colour",
              header: "Colour",
              question: "Which colour?",
              isOther: true,
              isSecret: false,
              options,
            },
          ],
          isBlocking: true,
          autoResolutionMs: null,
        })
        const before = app.messages.length
        yield* app.send({ id, result: { answers } })
        yield* app.quiet
        assert.deepStrictEqual(given, [{ _tag: "Answered", answers }])
        assert.deepStrictEqual(lines(app, before).slice(0, 2), [
          "serverRequest/resolved",
          "thread/status/changed active",
        ])
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [{ threadId, requestId: id }])
        assert.deepStrictEqual(flags(app), [[], ["waitingOnUserInput"], [], undefined])
        assert.isFalse(lines(app).some((line) => line.startsWith("item/started dynamicToolCall")))
      }),
    )
  })

  it.effect("an interrupt withdraws it, and a late answer is ignored", () => {
    const { given, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { id } = asked(app, method)
        yield* app.ask("stop", "turn/interrupt", { threadId, turnId })
        yield* app.send({ id, result: { answers } })
        yield* app.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [{ threadId, requestId: id }])
        assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "interrupted")
        assert.deepStrictEqual(given, [{ _tag: "Unanswered", reason: "withdrawn" }])
      }),
    )
  })

  it.effect.each([
    [{ error: { code: -32601, message: "no" } }, "failed"],
    [{ result: { nonsense: 1 } }, "malformed"],
  ] as const)("%j is no answer, and the turn goes on", ([answer, reason]) => {
    const { given, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        yield* turn(app, yield* started(app))
        yield* app.quiet
        yield* app.send({ id: asked(app, method).id, ...answer })
        yield* app.quiet
        assert.deepStrictEqual(given, [{ _tag: "Unanswered", reason }])
        assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "completed")
      }),
    )
  })

  it.effect("L7 is sent to who resumes; the first answer counts", () => {
    const { given, tools } = asking()
    return withThreads({ script, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const other = yield* app.another
        yield* other.ask("hello", "initialize", { clientInfo: { name: "b", version: "1" } })
        const resumed = resultOf(yield* other.ask("resume", "thread/resume", { threadId }))
        assert.deepStrictEqual(at(resumed, "thread", "status"), {
          type: "active",
          activeFlags: ["waitingOnUserInput"],
        })
        yield* other.quiet
        yield* other.send({ id: asked(other, method).id, result: { answers } })
        yield* other.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [
          { threadId, requestId: asked(app, method).id },
        ])
        assert.lengthOf(given, 1)
      }),
    )
  })

  it.effect("is a form for clients of the first version that can show forms", () => {
    const { given, tools } = asking()
    return withApp({ script, tools, capabilities: { elicitation: true } }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hello")
        yield* app.quiet
        const { id, params } = asked(app, "elicitationRequest")
        assert.strictEqual(params?.["elicitationId"], "c")
        assert.deepStrictEqual(at(params, "requestedSchema", "required"), ["colour"])
        yield* app.send({ id, result: { action: "accept", content: { colour: "Red" } } })
        yield* app.quiet
        assert.deepStrictEqual(given, [{ _tag: "Answered", answers }])
      }),
    )
  })
})
