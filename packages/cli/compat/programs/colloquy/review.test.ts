import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect } from "effect"
import { review } from "./review.ts"

const answer = (verdict: string) => JSON.stringify({ verdict, remarks: [] })

it.effect("corrects an answer that does not match, once", () =>
  Effect.gen(function* () {
    const test = Agent.test({ script: [answer("perhaps"), answer("approve")] })
    const verdicts = yield* Agent.settle(review(test.agent, ["a.ts"]))
    assert.deepStrictEqual(verdicts, [{ file: "a.ts", verdict: "approve", remarks: [] }])
  }),
)

it.effect("fails with the budget that is used up", () =>
  Effect.gen(function* () {
    const test = Agent.test({ script: () => [answer("approve"), Agent.uses(30_000)] })
    const files = ["a.ts", "b.ts", "c.ts"]
    const error = yield* Effect.flip(Agent.settle(review(test.agent, files)))
    assert.strictEqual(error._tag, "BudgetExceeded")
  }),
)
