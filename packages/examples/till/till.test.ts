import { Agent } from "@colloquy/agent/testing"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Shop, till } from "./till.ts"

it.effect("a large refund waits for a person, who sees what it is about", () =>
  Effect.gen(function* () {
    const test = Agent.test({
      agent: till,
      script: [Agent.calls("refund", { order: "A1", cents: 2500 }), "Settled."],
    })
    const chat = yield* test.open()
    const { text } = yield* chat.ask("refund A1", {
      onApproval: (question) => question.tool === "refund" && question.input.cents === 2500,
    }).result
    assert.strictEqual(text, "Settled.")
    assert.deepStrictEqual(test.sent().outputs, ["refunded 2500 cents of A1"])
  }).pipe(Effect.provide(Shop.layer)),
)

it.effect("a small refund needs nobody, a large one without anybody is denied", () =>
  Effect.gen(function* () {
    const test = Agent.test({
      agent: till,
      script: [
        [
          Agent.calls("refund", { order: "A1", cents: 5 }),
          Agent.calls("refund", { order: "A1", cents: 2500 }),
        ],
        "Half of it.",
      ],
    })
    const chat = yield* test.open()
    yield* chat.ask("refund A1").result
    assert.deepStrictEqual(test.sent().outputs, [
      "refunded 5 cents of A1",
      "tool call rejected: no client is available to approve it",
    ])
  }).pipe(Effect.provide(Shop.layer)),
)

it.effect("the model reads why a tool failed, and the chat goes on", () =>
  Effect.gen(function* () {
    const test = Agent.test({
      agent: till,
      script: [Agent.calls("price", { order: "B2" }), "There is no order B2."],
    })
    const chat = yield* test.open()
    yield* chat.ask("what did I pay for B2?").result
    assert.deepStrictEqual(test.sent().outputs, ["tool `price` failed: no such order"])
  }).pipe(Effect.provide(Shop.layer)),
)
