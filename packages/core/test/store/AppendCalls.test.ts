import { StoreError } from "@colloquy/core/StoreErrors"
import { AppendCalls } from "../../src/store/AppendCalls.ts"
import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** Runs `use` with a clock that counts how often any fiber sleeps. */
const countingSleeps = <A, E, R>(
  use: (sleeps: () => number) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    let sleeps = 0
    const counting: Clock.Clock = Object.create(clock, {
      sleep: {
        value: (duration: Parameters<Clock.Clock["sleep"]>[0]) => {
          sleeps++
          return clock.sleep(duration)
        },
      },
    })
    return Effect.provideService(
      use(() => sleeps),
      Clock.Clock,
      counting,
    )
  })

const reasonOf = (exit: Exit.Exit<void, unknown> | undefined): string | undefined => {
  if (exit === undefined || Exit.isSuccess(exit)) return undefined
  const failure = exit.cause.reasons[0]
  return failure?._tag === "Fail" && failure.error instanceof StoreError
    ? failure.error.reason
    : undefined
}

it.effect("L6 an append that does not end fails after ten seconds, each at its own time", () =>
  Effect.gen(function* () {
    const calls = new AppendCalls()
    const first = yield* Effect.forkChild(calls.run(Effect.never), { startImmediately: true })
    yield* TestClock.adjust("3 seconds")
    const second = yield* Effect.forkChild(calls.run(Effect.never), { startImmediately: true })
    yield* TestClock.adjust("6999 millis")
    assert.strictEqual(first.pollUnsafe(), undefined)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(reasonOf(first.pollUnsafe()), "Slow")
    yield* TestClock.adjust("2999 millis")
    assert.strictEqual(second.pollUnsafe(), undefined)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(reasonOf(second.pollUnsafe()), "Slow")
  }),
)

it.effect("L6 the limit holds again for appends after a time without any", () =>
  Effect.gen(function* () {
    const calls = new AppendCalls()
    for (let n = 0; n < 2; n++) {
      const gate = yield* Deferred.make<void>()
      const ending = yield* Effect.forkChild(calls.run(Deferred.await(gate)), {
        startImmediately: true,
      })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(ending)
      yield* TestClock.adjust("1 minute")
    }
    const stuck = yield* Effect.forkChild(calls.run(Effect.never), { startImmediately: true })
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(reasonOf(stuck.pollUnsafe()), "Slow")
  }),
)

it.effect(
  "L6 an append that waits when the conversations are closed fails in time all the same",
  () =>
    Effect.gen(function* () {
      const calls = new AppendCalls()
      const stuck = yield* Effect.forkChild(calls.run(Effect.never), { startImmediately: true })
      yield* calls.close
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(reasonOf(stuck.pollUnsafe()), "Slow")
    }),
)

it.effect("L10 an append whose caller is interrupted is carried out all the same", () =>
  Effect.gen(function* () {
    const calls = new AppendCalls()
    const gate = yield* Deferred.make<void>()
    let written = false
    const append = Effect.andThen(
      Deferred.await(gate),
      Effect.sync(() => {
        written = true
      }),
    )
    const caller = yield* Effect.forkChild(calls.run(append), { startImmediately: true })
    yield* Fiber.interrupt(caller)
    yield* Deferred.succeed(gate, undefined)
    yield* TestClock.adjust("1 millis")
    assert.isTrue(written)
  }),
)

it.effect("a thousand appends that have to wait need one timer", () =>
  countingSleeps((sleeps) =>
    Effect.gen(function* () {
      const calls = new AppendCalls()
      for (let n = 0; n < 1000; n++) yield* calls.run(Effect.yieldNow)
      assert.strictEqual(sleeps(), 1)
      yield* calls.close
    }),
  ),
)

it.effect("an append that ends at once needs no timer, and its failure is the caller's", () =>
  countingSleeps((sleeps) =>
    Effect.gen(function* () {
      const calls = new AppendCalls()
      const full = new StoreError({ operation: "append", reason: "Full", message: "full" })
      yield* calls.run(Effect.void)
      assert.strictEqual(yield* Effect.flip(calls.run(Effect.fail(full))), full)
      assert.strictEqual(sleeps(), 0)
      const later = Effect.andThen(Effect.yieldNow, Effect.fail(full))
      assert.strictEqual(yield* Effect.flip(calls.run(later)), full)
      yield* calls.close
    }),
  ),
)
