/** The test that somebody writes for the till, on the virtual clock. */
import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect } from "effect"
import { refund } from "./till.ts"

it.effect("refunds small sums without a question", () =>
  Effect.gen(function* () {
    const script = [Agent.calls("refund", { order: "A1", cents: 5 }), "done"]
    const till = Agent.test({ tools: [refund], script })
    const chat = yield* till.open()
    const { text } = yield* chat.ask("refund A1").result
    assert.strictEqual(text, "done")
    assert.deepStrictEqual(till.sent().outputs, ["refunded A1"])
  }),
)
