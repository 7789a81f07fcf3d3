import { assert, describe, it } from "@effect/vitest"
import type { Plan } from "../src/scenario/Plan.ts"
import { shrink, smaller } from "../src/scenario/Shrink.ts"
import { smallerStateless, type StatelessPlan } from "../src/stateless/StatelessPlan.ts"
import { statelessPlanOf } from "../src/stateless/StatelessWorkload.ts"
import { planOf } from "../src/scenario/Workload.ts"

const names = ({ clients }: Plan) => clients.map((operations) => operations.map((o) => o.do))

describe("Shrink", () => {
  it("a shrunk plan holds little more than the cause of its failure", () => {
    const plan = planOf(7)
    const fails = (candidate: Plan) =>
      candidate.clients.flat().some((o) => o.do === "create") &&
      candidate.clients.flat().some((o) => o.do === "submit")
    const { plan: shortest } = shrink(plan, fails, smaller)
    assert.deepStrictEqual(names(shortest).flat().toSorted(), ["create", "submit"])
    assert.strictEqual(shortest.model.length, 1)
  })

  it("returns the plan itself when no smaller plan fails, and stops at its bound", () => {
    const plan = planOf(7)
    assert.strictEqual(shrink(plan, () => false, smaller).plan, plan)
    assert.strictEqual(shrink(plan, () => true, smaller, 3).tries, 3)
  })

  it("a shrunk plan without handshakes holds little more than the cause of its failure", () => {
    const sent = ({ connections }: StatelessPlan) =>
      connections.flatMap(({ steps }) => steps.map(({ do: name }) => name))
    const fails = (candidate: StatelessPlan) =>
      sent(candidate).includes("call") && sent(candidate).includes("discover")
    const { plan: shortest } = shrink(statelessPlanOf(3), fails, smallerStateless)
    assert.deepStrictEqual(
      [sent(shortest).toSorted(), shortest.model.length, shortest.model[0]?.calls],
      [["call", "discover"], 1, []],
    )
  })
})
