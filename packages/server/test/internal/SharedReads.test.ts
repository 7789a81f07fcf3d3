/** Reads that concurrent callers share. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { SharedReads } from "../../src/internal/SharedReads.ts"

describe("SharedReads", () => {
  it.effect("L6 many callers share one read, and those who ask while it runs the next one", () =>
    Effect.gen(function* () {
      const reads = new SharedReads<number, string>()
      const gates = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()] as const
      let begun = 0
      const read = Effect.suspend(() => {
        const number = begun++
        return Effect.as(Deferred.await(gates[number === 0 ? 0 : 1]), number)
      })
      const ask = Effect.forkChild(reads.read("a", read), { startImmediately: true })
      const first = yield* ask
      const others = yield* Effect.all(Array.from({ length: 600 }, () => ask))
      const dropped = yield* ask
      yield* Fiber.interrupt(dropped)
      assert.deepStrictEqual([begun, reads.size], [1, 2])
      yield* Deferred.succeed(gates[0], undefined)
      assert.strictEqual(yield* Fiber.join(first), 0)
      yield* Deferred.succeed(gates[1], undefined)
      const got = yield* Effect.forEach(others, (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual([...new Set(got)], [1])
      assert.deepStrictEqual([begun, reads.size], [2, 0])
    }),
  )

  it.effect("a read that fails fails its callers, and the next one reads again", () =>
    Effect.gen(function* () {
      const reads = new SharedReads<number, string>()
      assert.strictEqual(yield* Effect.flip(reads.read("a", Effect.fail("no"))), "no")
      assert.strictEqual(yield* reads.read("a", Effect.succeed(1)), 1)
      assert.strictEqual(reads.size, 0)
    }),
  )
})
