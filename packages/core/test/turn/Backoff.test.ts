import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { backoff } from "../../src/turn/Backoff.ts"

const millis = (attempt: number) => Effect.map(backoff(attempt), Duration.toMillis)

describe("backoff", () => {
  it.effect("doubles from 200 ms, within a tenth of it, and stays below a minute", () =>
    Effect.gen(function* () {
      for (let attempt = 1; attempt <= 100; attempt++) {
        const base = 200 * 2 ** (attempt - 1)
        for (let i = 0; i < 50; i++) {
          const ms = yield* millis(attempt)
          if (base * 0.9 >= 60_000) assert.strictEqual(ms, 60_000)
          else {
            assert.isAtLeast(ms, base * 0.9)
            assert.isAtMost(ms, Math.min(base * 1.1, 60_000))
          }
        }
      }
    }),
  )

  it.effect("differs from one draw to the next, over the whole range", () =>
    Effect.gen(function* () {
      const draws = yield* Effect.forEach(Array.from({ length: 400 }), () => millis(1))
      assert.isBelow(Math.min(...draws), 184)
      assert.isAbove(Math.max(...draws), 216)
    }),
  )

  it.effect("L12 repeats under the same seed", () =>
    Effect.gen(function* () {
      const draws = Effect.forEach([1, 2, 3, 4], millis)
      const [a, b, c] = [
        yield* Random.withSeed(draws, "s"),
        yield* Random.withSeed(draws, "s"),
        yield* Random.withSeed(draws, "t"),
      ]
      assert.deepStrictEqual(a, b)
      assert.notDeepEqual(a, c)
    }),
  )
})
