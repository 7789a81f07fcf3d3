import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Agent } from "../../src/testing/index.ts"

describe("faults", () => {
  it.effect("a store without space fails the turn, and the next one runs when there is space", () =>
    Effect.gen(function* () {
      const store = Agent.faultyStore()
      const till = Agent.test({ store: store.layer, script: () => "done" })
      const chat = yield* till.open()
      assert.strictEqual((yield* chat.ask("a").result).text, "done")
      assert.isAbove(store.appended, 0)
      store.room = 0
      const error = yield* Effect.flip(chat.ask("b").result)
      assert.include(error.message, "there is no space left")
      store.room = Infinity
      assert.strictEqual((yield* chat.ask("c").result).text, "done")
    }),
  )

  it.effect("a slow store delays what is acknowledged", () =>
    Effect.gen(function* () {
      const store = Agent.faultyStore()
      const till = Agent.test({ store: store.layer, script: () => "done" })
      const chat = yield* till.open()
      store.delay = "2 seconds"
      assert.strictEqual((yield* chat.ask("a").result).text, "done")
      assert.isAtLeast(yield* Clock.currentTimeMillis, 2000)
    }),
  )

  it("a fault that cannot be meant is refused where it is set", () => {
    const store = Agent.faultyStore()
    assert.throws(() => {
      store.room = NaN
    }, "Agent.faultyStore room: expected a whole number from 0 on, or Infinity, got NaN")
    assert.throws(() => {
      store.delay = "abc" as "1 second"
    }, "Agent.faultyStore delay: expected a duration")
    assert.strictEqual(store.room, Infinity)
  })

  it.effect("a lost connection is requested again, until the attempts are used up", () =>
    Effect.gen(function* () {
      const till = Agent.test({ script: [["half", Agent.disconnects], "done"] })
      const chat = yield* till.open()
      assert.strictEqual((yield* chat.ask("a").result).text, "done")
      const lost = Agent.test({ script: () => Agent.disconnects })
      const other = yield* lost.open()
      const error = yield* Effect.flip(other.ask("a").result)
      assert.deepInclude(error, { _tag: "TurnFailed" })
      assert.isAbove(lost.model.requests.length, 2)
    }),
  )
})
