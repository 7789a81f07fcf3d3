import { Agent } from "@colloquy/agent/testing"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { review } from "./review.ts"

const files = ["a.ts", "b.ts", "c.ts"].map((name) => ({ name, text: "export {}" }))
const approved = JSON.stringify({ verdict: "approve", remarks: [] })

it.effect("reviews every file, and an answer that cannot be read rejects its file only", () =>
  Effect.gen(function* () {
    const test = Agent.test({
      script: ({ input }) => (JSON.stringify(input).includes("b.ts") ? "hm" : approved),
    })
    const verdicts = yield* Agent.settle(review(test.agent, files))
    assert.deepStrictEqual(
      verdicts.map(({ name, verdict }) => [name, verdict]),
      [
        ["a.ts", "approve"],
        ["b.ts", "reject"],
        ["c.ts", "approve"],
      ],
    )
  }),
)

it.effect("ends with the budget", () =>
  Effect.gen(function* () {
    const test = Agent.test({ script: () => [approved, Agent.uses(150_000)] })
    const error = yield* Effect.flip(Agent.settle(review(test.agent, files)))
    assert.strictEqual(error._tag, "BudgetExceeded")
  }),
)
