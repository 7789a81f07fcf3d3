import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Choices, disturbances, RecordedDraws, shortestChoices } from "../src/Draws.ts"
import { simulate } from "../src/Simulate.ts"

/** Twelve fibers that append their numbers. */
const append = Effect.gen(function* () {
  const order: Array<number> = []
  yield* Effect.forEach(
    Array.from({ length: 12 }, (_, i) => i),
    (i) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => order.push(i)),
      ),
    { concurrency: "unbounded" },
  )
  return order
})

const orderOf = (seed: number, given?: Choices) => {
  const draws = new RecordedDraws(seed, given)
  const { exit } = simulate(seed, append, { draws })
  return {
    choices: draws.choices,
    order: typeof exit !== "string" && Exit.isSuccess(exit) ? exit.value : [],
  }
}

describe("Draws", () => {
  it("choices that are repeated give the same run, and none the simplest one", () => {
    const drawn = orderOf(7)
    assert.deepStrictEqual(orderOf(7, drawn.choices), drawn)
    assert.deepStrictEqual(orderOf(7, []).order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    assert.notDeepEqual(drawn.order, orderOf(7, []).order)
  })

  it("the search leaves no disturbance that the failure does not need", () => {
    const fails = ({ order }: { order: ReadonlyArray<number> }) => order[0] !== 0
    const drawn = orderOf(7)
    assert.isTrue(fails(drawn))
    const { choices, tries } = shortestChoices(
      drawn.choices,
      (candidate) => fails(orderOf(7, candidate)),
      200,
    )
    assert.isAtMost(disturbances(choices), 2)
    assert.isAbove(disturbances(drawn.choices), 10)
    assert.isTrue(fails(orderOf(7, choices)))
    assert.isAtMost(tries, 200)
    for (const place of choices.keys()) {
      if (choices[place] === undefined) continue
      assert.isFalse(fails(orderOf(7, choices.with(place, undefined))))
    }
  })
})
