import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Agent } from "../../src/testing/index.ts"

const minute = 60_000

describe("settling one effect", () => {
  it.effect(
    "reports what sleeps again and again",
    () =>
      Effect.gen(function* () {
        const polling = Effect.repeat(Effect.void, Schedule.spaced("1 second"))
        const exit = yield* Effect.exit(Agent.settle(polling))
        assert.include(String(exit), "has not ended after 2,000 wake-ups of the clock")
      }),
    60_000,
  )
})

describe("settling several effects at once", () => {
  it.effect("lets pauses of three children pass together", () =>
    Effect.gen(function* () {
      const answers = ["one", "two", "three"]
      const test = Agent.test({ script: answers.map((text) => [Agent.pauses("1 minute"), text]) })
      const chat = yield* test.open()
      const texts = yield* Effect.forEach(
        answers,
        () =>
          Effect.gen(function* () {
            const child = yield* chat.child()
            return (yield* child.ask("go").result).text
          }),
        { concurrency: "unbounded" },
      )
      assert.sameMembers(texts, answers)
      assert.strictEqual(yield* Clock.currentTimeMillis, minute)
    }),
  )

  it.effect("stops the clock at the wake-ups of each", () =>
    Effect.gen(function* () {
      const test = Agent.test({
        script: (_, index) => [Agent.pauses(`${index + 1} minutes`), `answer ${index}`],
      })
      const chats = yield* Effect.forEach([0, 1, 2], () => test.open())
      const ends = yield* Effect.forEach(
        chats,
        (chat) => Effect.andThen(chat.ask("go").result, Clock.currentTimeMillis),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(ends, [minute, 2 * minute, 3 * minute])
    }),
  )

  it.effect("waits for an effect whose end another one causes after its pause", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<string>()
      const wait = Agent.tool("wait", { run: () => Deferred.await(gate) })
      const open = Agent.tool("open", { run: () => Deferred.succeed(gate, "opened") })
      const waiting = Agent.test({ tools: [wait], script: [Agent.calls("wait"), "done"] })
      const opening = Agent.test({
        tools: [open],
        script: [[Agent.pauses("1 minute"), Agent.calls("open")], "done"],
      })
      const chats = yield* Effect.all([waiting.open(), opening.open()])
      const results = chats.map((chat) => chat.ask("go").result)
      const fiber = yield* Effect.forkChild(Effect.all(results, { concurrency: "unbounded" }))
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(waiting.sent().outputs, ["opened"])
    }),
  )

  it.effect("goes on for the others when one is interrupted", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: (_, index) => [Agent.pauses("1 minute"), `${index}`] })
      const [first, second] = yield* Effect.all([test.open(), test.open()])
      const stopped = yield* Effect.forkChild(Stream.runDrain(first.ask("go")))
      const other = yield* Effect.forkChild(second.ask("go").result)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(stopped)
      const { text } = yield* Fiber.join(other)
      assert.include(["0", "1"], text)
      assert.strictEqual(yield* Clock.currentTimeMillis, minute)
    }),
  )
})
