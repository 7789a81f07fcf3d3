import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { IdleDeadline } from "../src/internal/IdleDeadline.ts"
import { IdleDeadlines } from "../src/internal/IdleDeadlines.ts"

/** Waits of one client, what expired when, and the number of timers so far. */
const setup = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const deadlines = yield* IdleDeadlines.make
  const live = yield* Clock.Clock
  const expired: Array<readonly [string, number]> = []
  let timers = 0
  const counting = Object.create(live, {
    sleep: {
      value: (duration: Parameters<Clock.Clock["sleep"]>[0]) => {
        timers++
        return live.sleep(duration)
      },
    },
  }) as Clock.Clock
  const note = (name: string) =>
    Effect.map(Clock.currentTimeMillis, (atMs) => void expired.push([name, atMs]))
  const start = (deadline: IdleDeadline, name: string, limit: Duration.Input) =>
    deadline
      .start(Duration.fromInputUnsafe(limit), note(name))
      .pipe(Effect.provideService(Clock.Clock, counting))
  return {
    deadline: () => new IdleDeadline(deadlines, scope),
    deadlines,
    start,
    expired,
    timers: () => timers,
  }
})

describe("IdleDeadlines", () => {
  it.effect("expire every wait at its time with one timer at a time", () =>
    Effect.gen(function* () {
      const { deadline, expired, start, timers } = yield* setup
      const waits = Array.from({ length: 100 }, deadline)
      for (const [index, wait] of waits.entries()) yield* start(wait, `${index}`, "5 minutes")
      assert.strictEqual(timers(), 1)
      for (const wait of waits.slice(2)) wait.stop()
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(expired, [
        ["0", 300_000],
        ["1", 300_000],
      ])
      assert.deepStrictEqual(
        waits.slice(0, 3).map(({ isExpired, isStarted }) => ({ isExpired, isStarted })),
        [
          { isExpired: true, isStarted: false },
          { isExpired: true, isStarted: false },
          { isExpired: false, isStarted: false },
        ],
      )
      assert.strictEqual(timers(), 1)
    }),
  )

  it.effect(
    "expire a later wait with an earlier limit in time, and the earlier wait after it",
    () =>
      Effect.gen(function* () {
        const { deadline, expired, start } = yield* setup
        yield* start(deadline(), "long", "5 minutes")
        yield* TestClock.adjust("1 minute")
        yield* start(deadline(), "short", "500 millis")
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(expired, [
          ["short", 60_500],
          ["long", 300_000],
        ])
      }),
  )

  it.effect("need no timer for a wait that follows another", () =>
    Effect.gen(function* () {
      const { deadline, expired, start, timers } = yield* setup
      const wait = deadline()
      for (let turn = 0; turn < 100; turn++) {
        yield* start(wait, `${turn}`, "5 minutes")
        yield* TestClock.adjust("1 second")
        wait.stop()
      }
      assert.strictEqual(timers(), 1)
      yield* start(wait, "last", "5 minutes")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(expired, [["last", 400_000]])
    }),
  )

  it.effect("watch a wait that is started by an expiry, and one after nothing waited", () =>
    Effect.gen(function* () {
      const { deadline, expired, start } = yield* setup
      const first = deadline()
      const second = deadline()
      yield* first.start(Duration.seconds(1), start(second, "second", "1 second"))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(expired, [["second", 2000]])
      yield* start(first, "third", "1 second")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(expired.slice(1), [["third", 3_601_000]])
    }),
  )

  it.effect("expire a wait without any time, and watch the next one", () =>
    Effect.gen(function* () {
      const { deadline, expired, start } = yield* setup
      yield* start(deadline(), "none", 0)
      assert.deepStrictEqual(expired, [["none", 0]])
      yield* start(deadline(), "endless", Duration.infinity)
      yield* start(deadline(), "some", "1 second")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(expired.slice(1), [["some", 1000]])
    }),
  )

  it.effect("L8 expire nothing after their scope is closed", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { deadline, expired, start } = yield* Effect.provideService(setup, Scope.Scope, scope)
      yield* start(deadline(), "late", "1 second")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(expired, [])
    }),
  )
})
