import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import * as LazyService from "../../src/lazy/LazyService.ts"

class Counter extends Context.Service<
  Counter,
  {
    readonly add: (by: number, times?: number) => Effect.Effect<number>
    readonly total: Effect.Effect<number>
    readonly upTo: (end: number) => Stream.Stream<number>
    readonly reset?: () => Effect.Effect<string>
  }
>()("test/Counter") {}

/** A counter whose members use `this`, as those of a class do. */
class MemoryCounter {
  private value = 0
  readonly total = Effect.sync(() => this.value)
  add(by: number, times = 1) {
    return Effect.sync(() => (this.value += by * times))
  }
  upTo(end: number) {
    return Stream.range(this.value, end)
  }
}

const members: LazyService.Members<Counter["Service"]> = {
  add: "effect",
  total: "value",
  upTo: "stream",
  reset: (loaded) => () =>
    Effect.flatMap(loaded, ({ reset }) => reset?.() ?? Effect.succeed("no reset")),
}

/** A lazy counter, and what was recorded of its life. */
const recorded = (built: Effect.Effect<void> = Effect.void) => {
  const life: Array<string> = []
  const counter = Layer.effect(
    Counter,
    Effect.acquireRelease(
      Effect.map(built, () => {
        life.push("built")
        return new MemoryCounter()
      }),
      () => Effect.sync(() => life.push("released")),
    ),
  )
  const load = () => {
    life.push("loaded")
    return Promise.resolve(counter)
  }
  return { life, layer: LazyService.layer(Counter, load, members) }
}

describe("LazyService", () => {
  it.effect("forwards every kind of member to the service, which is loaded at the first use", () =>
    Effect.gen(function* () {
      const { layer, life } = recorded()
      yield* Effect.gen(function* () {
        const counter = yield* Counter
        assert.deepStrictEqual(life, [])
        assert.strictEqual(yield* counter.add(2, 3), 6)
        assert.strictEqual(yield* counter.total, 6)
        assert.deepStrictEqual(yield* Stream.runCollect(counter.upTo(8)), [6, 7, 8])
        assert.strictEqual(yield* counter.reset?.() ?? Effect.succeed("absent"), "no reset")
        assert.deepStrictEqual(life, ["loaded", "built"])
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(life, ["loaded", "built", "released"])
    }),
  )

  it.effect(
    "costs no operation per call of a loaded service more than the service, one per value, and no stream",
    () =>
      Effect.gen(function* () {
        let operations = 0
        class CountingScheduler extends Scheduler.MixedScheduler {
          override shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
            operations++
            return super.shouldYield(fiber)
          }
        }
        const count = (use: Effect.Effect<unknown>) =>
          Effect.suspend(() => {
            operations = 0
            return Effect.provideService(use, Scheduler.Scheduler, new CountingScheduler())
          }).pipe(Effect.map(() => operations))
        const numbers = Stream.make(1, 2)
        const service = { get: () => Effect.void, total: Effect.void, numbers: () => numbers }
        const lazy = LazyService.forward(Effect.succeed(service), {
          get: "effect",
          total: "value",
          numbers: "stream",
        })
        yield* lazy.get()
        assert.strictEqual(yield* count(lazy.get()), yield* count(service.get()))
        assert.strictEqual(yield* count(lazy.total), (yield* count(service.total)) + 1)
        assert.strictEqual(lazy.numbers(), numbers)
      }),
  )

  it.effect("loads nothing for a service that is not used", () =>
    Effect.gen(function* () {
      const { layer, life } = recorded()
      yield* Effect.provide(Effect.asVoid(Counter), layer)
      assert.deepStrictEqual(life, [])
    }),
  )

  it.effect("completes loading when the caller of the first use is interrupted", () =>
    Effect.gen(function* () {
      const building = yield* Deferred.make<void>()
      const proceed = yield* Deferred.make<void>()
      const { layer, life } = recorded(
        Effect.andThen(Deferred.succeed(building, undefined), Deferred.await(proceed)),
      )
      yield* Effect.gen(function* () {
        const counter = yield* Counter
        const first = yield* Effect.forkChild(counter.add(1))
        yield* Deferred.await(building)
        const interrupting = yield* Effect.forkChild(Fiber.interrupt(first), {
          startImmediately: true,
        })
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(interrupting)
        assert.strictEqual(yield* counter.add(2), 2)
        assert.deepStrictEqual(life, ["loaded", "built"])
      }).pipe(Effect.provide(layer))
    }),
  )

  it.effect("every use fails with the defect of a module that cannot be loaded", () =>
    Effect.gen(function* () {
      const missing = LazyService.layer(
        Counter,
        () => Promise.reject<Layer.Layer<Counter>>(new Error("module not found")),
        members,
      )
      const exits = yield* Effect.gen(function* () {
        const counter = yield* Counter
        return [yield* Effect.exit(counter.total), yield* Effect.exit(counter.add(1))]
      }).pipe(Effect.provide(missing))
      for (const exit of exits) {
        assert.isTrue(Exit.isFailure(exit) && Exit.hasDies(exit))
      }
    }),
  )
})
