import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { StartTurns } from "../../src/process/StartTurns.ts"

/** Programs that take turns, and the names of those that had theirs. */
const makePrograms = () => {
  const { take } = StartTurns.makeUnsafe()
  const had: Array<string> = []
  /** Has its turn, may run at once or when `mayRun` resolves, and ends when `ended` resolves. */
  const program = (name: string, mayRun: Effect.Effect<void>, ended: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const turn = yield* take
      had.push(name)
      yield* turn.endAfter(mayRun)
      yield* ended
    }).pipe(Effect.scoped)
  /** Four that are held back without end. */
  const holders = Effect.forEach(["a", "b", "c", "d"], (name) =>
    Effect.forkChild(program(name, Effect.never, Effect.never)),
  )
  return { had, program, holders }
}

describe("StartTurns", () => {
  it.effect("lets a few start at once, and the others in order", () =>
    Effect.gen(function* () {
      const { had, holders, program } = makePrograms()
      const [first] = yield* holders
      yield* TestClock.adjust(0)
      const done = yield* Deferred.make<void>()
      for (const name of ["e", "f", "g"]) {
        yield* Effect.forkChild(program(name, Effect.never, Deferred.await(done)))
        yield* TestClock.adjust(0)
      }
      assert.deepStrictEqual(had, ["a", "b", "c", "d"])
      assert(first !== undefined)
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(had, ["a", "b", "c", "d", "e"])
      yield* Deferred.succeed(done, undefined)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(had, ["a", "b", "c", "d", "e", "f", "g"])
    }),
  )

  it.effect("a turn is over a moment after the program may run, once", () =>
    Effect.gen(function* () {
      const { had, holders, program } = makePrograms()
      const [first] = yield* holders
      yield* TestClock.adjust(0)
      assert(first !== undefined)
      yield* Fiber.interrupt(first)
      const mayRun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      yield* Effect.forkChild(program("e", Deferred.await(mayRun), Deferred.await(ended)))
      yield* Effect.forkChild(program("f", Effect.never, Effect.never))
      yield* Effect.forkChild(program("g", Effect.never, Effect.never))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(had.slice(4), ["e"])
      yield* Deferred.succeed(mayRun, undefined)
      yield* TestClock.adjust("99 millis")
      assert.deepStrictEqual(had.slice(4), ["e"])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(had.slice(4), ["e", "f"])
      // Its end gives no second turn away.
      yield* Deferred.succeed(ended, undefined)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(had.slice(4), ["e", "f"])
    }),
  )

  it.effect("a start that hangs does not keep others waiting for ever", () =>
    Effect.gen(function* () {
      const { had, holders, program } = makePrograms()
      yield* holders
      yield* TestClock.adjust(0)
      yield* Effect.forkChild(program("e", Effect.void, Effect.void))
      yield* TestClock.adjust("29999 millis")
      assert.lengthOf(had, 4)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(had.slice(4), ["e"])
    }),
  )

  it.effect("one that is interrupted while it waits takes no turn", () =>
    Effect.gen(function* () {
      const { had, holders, program } = makePrograms()
      const [first] = yield* holders
      yield* TestClock.adjust(0)
      const waiting = yield* Effect.forkChild(program("e", Effect.void, Effect.never))
      yield* Effect.forkChild(program("f", Effect.void, Effect.never))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(waiting)
      assert(first !== undefined)
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(had.slice(4), ["f"])
    }),
  )
})
