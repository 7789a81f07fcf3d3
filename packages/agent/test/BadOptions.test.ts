/** What a program without types may give: each is refused with the option, what was expected and what it was. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Agent } from "../src/testing/index.ts"

/** The type that a program without types does not have. */
const untyped = (value: unknown): never => value as never

const model = Agent.scripted([])
const instructions = ""

describe("values that are none", () => {
  it.each<readonly [what: string, use: () => unknown, message: string]>([
    [
      "no model",
      () => Agent.make(untyped({ instructions })),
      "Agent.make model: expected a model, such as Agent.offline(), got undefined",
    ],
    [
      "instructions that are no text",
      () => Agent.make(untyped({ instructions: 5, model })),
      "Agent.make instructions: expected a text, got 5",
    ],
    [
      "a tool without a function",
      () => Agent.tool("pay", untyped({})),
      'Agent.tool("pay") run: expected a function, got undefined',
    ],
    [
      "a budget of time that is no duration",
      () => Agent.make({ instructions, model, budget: { time: untyped("soon") } }),
      'Agent.make budget.time: expected a duration, got "soon"',
    ],
  ])("%s", (_, use, message) => {
    assert.throws(use, message)
  })

  it.effect("input that is none ends the ask, and the chat goes on", () =>
    Effect.gen(function* () {
      const chat = yield* Agent.test({ script: ["hello"] }).open()
      const exit = yield* Effect.exit(chat.ask(untyped(5)).result)
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        "chat.ask input: expected a text or an array of texts and images, got 5",
      )
      assert.strictEqual((yield* chat.ask("hi").result).text, "hello")
    }),
  )

  it.effect("a tool that returns no Effect fails its call at once", () =>
    Effect.gen(function* () {
      const pay = Agent.tool("pay", { run: () => untyped(Promise.resolve(1)) })
      const test = Agent.test({ tools: [pay], script: [Agent.calls("pay"), "sorry"] })
      const chat = yield* test.open()
      assert.strictEqual((yield* chat.ask("pay").result).text, "sorry")
      assert.deepStrictEqual(test.sent().outputs, ["tool `pay` failed: internal error"])
    }),
  )

  it.effect("an answer that is none denies, and is not taken for a person's", () =>
    Effect.gen(function* () {
      const pay = Agent.tool("pay", { approve: true, run: () => Effect.succeed("paid") })
      for (const answer of ["perhaps", undefined, 1, Promise.resolve(true)]) {
        const test = Agent.test({ tools: [pay], script: [Agent.calls("pay"), "sorry"] })
        const chat = yield* test.open()
        yield* chat.ask("pay", { onApproval: () => untyped(answer) }).result
        assert.deepStrictEqual(test.sent().outputs, [
          "tool call rejected: the answer was invalid or the approval request failed",
        ])
      }
    }),
  )
})
