import { assert, describe, it } from "@effect/vitest"
import { lines, type Report, spread } from "../src/user/Figures.ts"
import * as Text from "../src/user/Text.ts"

const one = { count: 1, median: 5, p10: 5, p90: 5 }

const report: Report = {
  machine: "a machine",
  runs: 1,
  sizes: { deltas: 2 },
  contenders: ["peer", "ours"],
  unanswered: {},
  bareNode: one,
  figures: [
    {
      key: "reply",
      title: "reply",
      unit: "ms",
      aim: { value: 3, better: "less" },
      of: { peer: { ...one, median: 1 }, ours: one },
    },
  ],
  phases: [],
}

describe("the report of the benchmark user", () => {
  it("has median and tenths of the samples, in whatever order they came", () => {
    assert.deepStrictEqual(spread([5, 1, 4, 2, 3, 10, 9, 8, 7, 6]), {
      count: 10,
      median: 5.5,
      p10: 1,
      p90: 9,
    })
  })

  it("states starts as multiples of bare Node, and leaves out what was not measured", () => {
    const found = lines(new Map([["ours", new Map([["start", [30, 60, 90]]])]]), 30)
    assert.deepStrictEqual(
      found.flatMap(({ key, of }) => (of["ours"] === undefined ? [] : [[key, of["ours"].median]])),
      [
        ["start", 60],
        ["bare", 2],
      ],
    )
  })

  it("judges our figure by its aim, not a peer's", () => {
    assert.match(Text.render(report), /^reply, ms .* ≤ 3 {2}no$/m)
  })

  it("says how often a server did not answer, and nothing where each did", () => {
    assert.include(
      Text.render({ ...report, unanswered: { peer: 2 } }),
      "peer did not answer a request in 2 attempts",
    )
    assert.notInclude(Text.render(report), "did not answer")
  })
})
