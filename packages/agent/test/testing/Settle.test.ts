import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Agent } from "../../src/testing/index.ts"

const minute = 60_000

const slow = (pause: Duration.Input) => Agent.test({ script: () => [Agent.pauses(pause), "done"] })

/** Runs a program to its virtual end. */
const endOf = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.andThen(program, Clock.currentTimeMillis)

const waiting = <A>(gate: Deferred.Deferred<A>) =>
  Agent.test({
    tools: [Agent.tool("wait", { run: () => Effect.as(Deferred.await(gate), "opened") })],
    script: [Agent.calls("wait"), "done"],
  })

describe("settling beside timers of the test", () => {
  it.effect("a timeout of an ask ends it, and the clock goes no further", () =>
    Effect.gen(function* () {
      const chat = yield* slow("1 hour").open()
      const ask = Effect.timeout(chat.ask("go").result, "10 seconds")
      assert.strictEqual((yield* Effect.flip(ask))._tag, "TimeoutError")
      assert.strictEqual(yield* Clock.currentTimeMillis, 10_000)
      assert.strictEqual(yield* endOf(chat.ask("go").result), 10_000 + 60 * minute)
    }),
  )

  it.effect("a sleep beside an ask ends at its own time", () =>
    Effect.gen(function* () {
      const chat = yield* slow("1 minute").open()
      const ends = yield* Effect.all(
        [endOf(Effect.sleep("30 seconds")), endOf(chat.ask("go").result)],
        { concurrency: 2 },
      )
      assert.deepStrictEqual(ends, [minute / 2, minute])
    }),
  )

  it.effect("an ask waits for what the test does after a sleep of its own", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const chat = yield* waiting(gate).open()
      yield* Effect.forkChild(Effect.delay(Deferred.succeed(gate, undefined), "10 seconds"))
      assert.strictEqual(yield* endOf(chat.ask("go").result), 10_000)
    }),
  )

  it.effect("retries of a program settle with it", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: [Agent.fails("no"), "done"] })
      const chat = yield* test.open()
      const retried = Effect.retry(chat.ask("go").result, Schedule.spaced("1 second"))
      assert.strictEqual((yield* Agent.settle(retried)).text, "done")
      assert.strictEqual(yield* Clock.currentTimeMillis, 1000)
    }),
  )
})

describe("settling several agents", () => {
  const shared = slow("1 minute")
  for (const name of ["one test", "another one"]) {
    it.effect(`an agent of the module settles in ${name}`, () =>
      Effect.gen(function* () {
        const chat = yield* shared.open()
        assert.strictEqual(yield* endOf(chat.ask("go").result), minute)
      }),
    )
  }

  it.effect("a tool that asks another agent waits for its pauses", () =>
    Effect.gen(function* () {
      const expert = yield* slow("1 hour").open()
      const consult = Agent.tool("consult", {
        run: () => Effect.orDie(Effect.map(expert.ask("and now?").result, ({ text }) => text)),
      })
      const test = Agent.test({ tools: [consult], script: [Agent.calls("consult"), "done"] })
      const chat = yield* test.open()
      assert.strictEqual(yield* endOf(chat.ask("go").result), 60 * minute)
      assert.deepStrictEqual(test.sent().outputs, ["done"])
    }),
  )

  it.effect("a chat that was opened before settles, whoever opened it", () =>
    Effect.gen(function* () {
      const model = Agent.scripted([[Agent.pauses("1 minute"), "done"]])
      const chat = yield* Agent.make({ instructions: "", model }).open()
      assert.strictEqual((yield* Agent.settle(chat.ask("go").result)).text, "done")
    }),
  )

  it.effect("a chat is not used on another clock than its own", () =>
    Effect.gen(function* () {
      const chat = yield* slow("1 minute").open()
      const failure = yield* Effect.flip(Agent.simulate(1, chat.ask("go").result))
      assert.include(failure.message, "than the one that opened it")
      assert.strictEqual((yield* chat.ask("go").result).text, "done")
    }),
  )
})

describe("settling what the platform does", () => {
  it.effect("a promise of a tool settles before the clock moves", () =>
    Effect.gen(function* () {
      const hops = () => new Promise<string>((done) => setImmediate(() => setImmediate(done, "x")))
      const tool = Agent.tool("hop", { run: () => Effect.promise(hops) })
      const script = [[Agent.pauses("1 minute"), Agent.calls("hop")], "done"]
      const test = Agent.test({ tools: [tool], script })
      const chat = yield* test.open()
      assert.strictEqual(yield* endOf(chat.ask("go").result), minute)
      assert.deepStrictEqual(test.sent().outputs, ["x"])
    }),
  )
})

describe("what never ends", () => {
  it.effect("the error says which turn waits, and for what", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const chat = yield* waiting(gate).open()
      const exit = yield* Effect.exit(chat.ask("go").result)
      assert.include(String(exit), `in the turn "go", the tool wait runs with {}`)
      const silent = yield* slow("Infinity").open()
      const other = yield* Effect.exit(silent.ask("hello").result)
      assert.include(String(other), `in the turn "hello", the model has not responded`)
    }),
  )

  it.effect("a stream of events without a turn says so", () =>
    Effect.gen(function* () {
      const chat = yield* slow("1 minute").open()
      const exit = yield* Effect.exit(Stream.runDrain(chat.events()))
      assert.include(String(exit), "No agent under test has a turn that runs")
    }),
  )
})

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
