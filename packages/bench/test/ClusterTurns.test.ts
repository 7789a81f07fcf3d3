import { assert, describe, it } from "@effect/vitest"
import { costRatio } from "../src/cluster/Turns.ts"

const figure = (...roundCpuMs: ReadonlyArray<number>) => ({
  perSecond: 1,
  cpuMsPerTurn: 1,
  roundCpuMs,
})

describe("the processor time of turns beside that of others", () => {
  it("is compared within each round, whatever the machine did in that round", () => {
    assert.strictEqual(costRatio(figure(3, 6, 30), figure(2, 4, 20)), 1.5)
  })

  it("is the median of the rounds", () => {
    assert.strictEqual(costRatio(figure(3, 90, 3), figure(2, 2, 2)), 1.5)
  })
})
