import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import { IdGenerator } from "../src/IdGenerator.ts"

const ids = (n: number) =>
  Effect.flatMap(IdGenerator, ({ conversationId }) =>
    Effect.forEach(Array.from({ length: n }), () => conversationId),
  ).pipe(Effect.provide(IdGenerator.layer, { local: true }))

describe("IdGenerator", () => {
  it.effect("returns UUIDs of version 7 that contain the time", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(0x0199_1234_5678)
      for (const id of yield* ids(200)) {
        assert.match(id, /^01991234-5678-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }
    }),
  )

  it.effect("repeats none", () =>
    Effect.gen(function* () {
      assert.strictEqual(new Set(yield* ids(1000)).size, 1000)
    }),
  )

  it.effect("orders them by creation, within a millisecond and over a clock that jumps back", () =>
    Effect.gen(function* () {
      const next = (yield* IdGenerator).conversationId
      yield* TestClock.setTime(2_000)
      const many = yield* Effect.forEach(Array.from({ length: 10_000 }), () => next)
      yield* TestClock.setTime(1_000)
      const all = [...many, yield* next]
      assert.deepStrictEqual(all, all.toSorted())
      assert.strictEqual(new Set(all).size, all.length)
    }).pipe(Effect.provide(IdGenerator.layer)),
  )

  it.effect("L12 repeats them under the same clock and seed, and only then", () =>
    Effect.gen(function* () {
      const first = yield* Random.withSeed(ids(3), "s")
      assert.deepStrictEqual(yield* Random.withSeed(ids(3), "s"), first)
      assert.notDeepEqual(yield* Random.withSeed(ids(3), "t"), first)
      yield* TestClock.adjust(1)
      assert.notDeepEqual(yield* Random.withSeed(ids(3), "s"), first)
    }),
  )
})
