import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect } from "effect"
import { Shop, till } from "./till.ts"

const order = { order: "A1", cents: 5000 }

it.effect("asks before a large refund, and pays", () =>
  Effect.gen(function* () {
    const test = Agent.test({ agent: till, script: [Agent.calls("refund", order), "done"] })
    const chat = yield* test.open()
    const asked: Array<number> = []
    const onApproval = ({ input }: { input: typeof order }) => asked.push(input.cents) > 0
    const { text } = yield* chat.ask("refund A1", { onApproval }).result
    assert.deepStrictEqual([text, asked], ["done", [5000]])
    assert.deepStrictEqual(test.sent().outputs, ["A1 was refunded"])
  }).pipe(Effect.provide(Shop.layer)),
)

it.effect("tells the model that nobody approved it", () =>
  Effect.gen(function* () {
    const test = Agent.test({ agent: till, script: [Agent.calls("refund", order), "sorry"] })
    const chat = yield* test.open()
    yield* chat.ask("refund A1").result
    assert.match(test.sent().outputs[0] ?? "", /approve/)
  }).pipe(Effect.provide(Shop.layer)),
)
