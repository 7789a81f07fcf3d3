import { assert, describe, it } from "@effect/vitest"
import { summarize } from "../src/Stats.ts"

describe("summarize", () => {
  it("takes the middle sample of an odd number, in whatever order they came", () => {
    assert.deepStrictEqual(summarize([30, 10, 20]), { count: 3, min: 10, median: 20, p99: 30 })
  })

  it("takes the mean of the two middle samples of an even number", () => {
    assert.deepStrictEqual(summarize([4, 1, 2, 100]), { count: 4, min: 1, median: 3, p99: 100 })
  })

  it("leaves the slowest hundredth out of p99, and no more", () => {
    const samples = Array.from({ length: 200 }, (_, i) => i + 1)
    assert.deepStrictEqual(summarize(samples), { count: 200, min: 1, median: 100.5, p99: 198 })
  })

  it("leaves the samples as they were", () => {
    const samples = [3, 1, 2]
    summarize(samples)
    assert.deepStrictEqual(samples, [3, 1, 2])
  })

  it("has no figure for no samples", () => {
    assert.deepStrictEqual(summarize([]), {
      count: 0,
      min: Number.NaN,
      median: Number.NaN,
      p99: Number.NaN,
    })
  })
})
