import { assert, describe, it } from "@effect/vitest"
import { costRatio } from "../src/cluster/Turns.ts"

describe("the processor time of turns beside that of others", () => {
  it("is compared within each round, whatever the machine did in that round", () => {
    assert.strictEqual(costRatio([3, 6, 30], [2, 4, 20]), 1.5)
  })

  it("is the median of the rounds", () => {
    assert.strictEqual(costRatio([3, 90, 3], [2, 2, 2]), 1.5)
  })
})
