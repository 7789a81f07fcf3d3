import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { EventLog } from "../../src/mcp/EventLog.ts"

const ten = "0123456789"

describe("the log of a stream", () => {
  it.effect("keeps the last messages where nobody reads, and the response in any case", () =>
    Effect.sync(() => {
      const log = new EventLog({ maxChars: 30 })
      for (let i = 0; i < 100; i++) log.push(ten)
      assert.strictEqual(log.size, 30)
      assert.isFalse(log.isFull)
      log.push(ten.repeat(100), true)
      assert.strictEqual(log.size, 1000)
      assert.isTrue(log.canContinue(100))
      assert.isFalse(log.canContinue(99))
      assert.isFalse(log.canContinue(102))
      assert.isTrue(log.endsWith(101))
      assert.isFalse(log.endsWith(100))
      // A reader continues after what was dropped, not before.
      assert.strictEqual(log.attach().after, 100)
    }),
  )

  it.effect("makes its sender wait for a slow reader, and gives up one that takes nothing", () =>
    Effect.gen(function* () {
      const log = new EventLog({ maxChars: 30, stallMs: 1000 })
      const reader = log.attach()
      for (let i = 0; i < 4; i++) log.push(ten)
      const sender = yield* Effect.forkChild(log.hasRoom, { startImmediately: true })
      yield* TestClock.adjust(999)
      assert.isTrue(log.isFull)
      assert.lengthOf((yield* reader.take) ?? [], 4)
      yield* Fiber.join(sender)
      for (let i = 0; i < 4; i++) log.push(ten)
      const stalled = yield* Effect.forkChild(log.hasRoom, { startImmediately: true })
      yield* TestClock.adjust(1000)
      yield* Fiber.join(stalled)
      assert.isUndefined(yield* reader.take)
      assert.isFalse(log.isRead)
      assert.isAtMost(log.size, 30)
    }),
  )

  it.effect("ends the reader that another one follows", () =>
    Effect.gen(function* () {
      const log = new EventLog()
      const first = log.attach()
      const taking = yield* Effect.forkChild(first.take, { startImmediately: true })
      const second = log.attach(0)
      log.push(ten)
      assert.isUndefined(yield* Fiber.join(taking))
      assert.deepStrictEqual(yield* second.take, [{ number: 1, text: ten }])
      first.detach()
      assert.isTrue(log.isRead)
      log.end()
      assert.isUndefined(yield* second.take)
    }),
  )
})
