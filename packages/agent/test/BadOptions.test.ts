/** What a program without types may give: each is refused with the option, what was expected and what it was. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Agent } from "../src/testing/index.ts"

/** The type that a program without types does not have. */
const untyped = (value: unknown): never => value as never

describe("values that are none", () => {
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

  it.effect.each<readonly [what: string, input: unknown, message: string]>([
    ["no items", [], "input: expected at least one item, got none"],
    [
      "an item of an unknown type",
      [{ type: "txt", text: "x" }],
      'input.0: Expected an object whose `type` is "text" | "image" | "local_image"',
    ],
    ["an item without its text", [{ type: "text" }], "input.0.text: Missing key"],
    [
      "an image by its path, which an agent without a machine does not read",
      [{ type: "local_image", path: "/house.png" }],
      "input.0: expected an image by `image_url`",
    ],
    [
      "an image that is no text",
      [
        { type: "text", text: "what is it?" },
        { type: "image", image_url: 5 },
      ],
      "input.1.image_url: Expected string",
    ],
  ])("input with %s ends the ask, and the chat goes on", ([, input, message]) =>
    Effect.gen(function* () {
      const chat = yield* Agent.test({ script: ["hello"] }).open()
      const error = yield* Effect.flip(chat.ask(untyped(input)).result)
      assert.strictEqual(error._tag, "AskRefused")
      assert.include(error.message, message)
      assert.strictEqual((yield* chat.ask("hi").result).text, "hello")
    }),
  )

  it.effect("a rule of approval that gives no boolean asks, and says so in the log", () =>
    Effect.gen(function* () {
      for (const answer of [0, "no", undefined, Promise.resolve(false)]) {
        const pay = Agent.tool("pay", {
          approve: () => untyped(answer),
          run: () => Effect.succeed("paid"),
        })
        const test = Agent.test({ tools: [pay], script: [Agent.calls("pay"), "sorry"] })
        const chat = yield* test.open()
        yield* chat.ask("pay", { onApproval: () => false }).result
        assert.deepStrictEqual(test.sent().outputs, ["tool call rejected by user"])
      }
    }),
  )

  it.effect("a child with a tool that its parent does not have", () =>
    Effect.gen(function* () {
      const pay = Agent.tool("pay", { run: () => Effect.succeed("paid") })
      const chat = yield* Agent.test({ tools: [pay], script: [] }).open()
      const exit = yield* Effect.exit(chat.child({ tools: ["pya"] }))
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        'chat.child tools: expected pay, got "pya"',
      )
    }),
  )

  it.effect.each<readonly [what: string, script: unknown, message: string]>([
    ["an empty response", [[]], "expected a text, a part such as"],
    ["a response that is none", [5], "or a list of at least one of them, got 5"],
    ["a part that is none", [["hi", {}]], 'got ["hi",{}]'],
    [
      "a function that throws",
      () => {
        throw new Error("boom")
      },
      "the response of the script to request 1: its function failed: Error: boom",
    ],
  ])("a script with %s fails the turn that needs it", ([, script, message]) =>
    Effect.gen(function* () {
      const chat = yield* Agent.test({ script: untyped(script) }).open()
      const error = yield* Effect.flip(chat.ask("hi").result)
      assert.strictEqual(error._tag, "TurnFailed")
      assert.include(error.message, message)
    }),
  )
})
