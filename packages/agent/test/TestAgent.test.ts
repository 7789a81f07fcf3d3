import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent } from "../src/testing/index.ts"

class Shop extends Context.Service<
  Shop,
  { readonly refund: (order: string) => Effect.Effect<string, "sold out"> }
>()("test/Shop") {}

const refund = Agent.tool("refund", {
  input: { order: Schema.String, cents: Schema.Int },
  approve: ({ cents }) => cents > 1000,
  run: ({ order }) => Effect.flatMap(Shop, (shop) => shop.refund(order)),
})

const shop = Effect.provideService(Shop, { refund: (order) => Effect.succeed(`refunded ${order}`) })

describe("Agent.test", () => {
  it.effect("runs an agent of the program with a script", () =>
    Effect.gen(function* () {
      const agent = Agent.make({
        instructions: "You are a till.",
        model: Agent.openai("gpt-5"),
        tools: [refund],
      })
      const till = Agent.test({
        agent,
        script: [Agent.calls("refund", { order: "A1", cents: 5000 }), "done"],
      })
      const chat = yield* till.open("till")
      const { text } = yield* chat.ask("refund A1", {
        onApproval: ({ input }) => input.cents < 6000,
      }).result
      assert.strictEqual(text, "done")
      assert.deepStrictEqual(till.sent(), {
        instructions: "You are a till.",
        messages: ["user: refund A1"],
        tools: ["refund"],
        outputs: ["refunded A1"],
      })
      assert.strictEqual(till.model.left(), 0)
    }).pipe(shop),
  )

  it.effect("pauses, retries and budgets of time pass at once", () =>
    Effect.gen(function* () {
      const slow = Agent.test({ script: [[Agent.pauses("1 hour"), "late"]] })
      const chat = yield* slow.open()
      const error = yield* Effect.flip(chat.ask("a", { budget: { time: "5 seconds" } }).result)
      assert.deepInclude(error, { _tag: "BudgetExceeded", used: 5000 })
      assert.strictEqual(yield* Clock.currentTimeMillis, 5000)
      const retried = Agent.test({ script: [Agent.fails("broken", { retryable: true }), "ok"] })
      const other = yield* retried.open()
      const events = yield* other.ask("a").pipe(Stream.runCollect)
      assert.isTrue(events.some(({ type }) => type === "stream_error"))
    }),
  )

  it.effect("a question that is never answered is denied at its deadline", () =>
    Effect.gen(function* () {
      const till = Agent.test({
        tools: [refund],
        script: [Agent.calls("refund", { order: "A1", cents: 5000 }), "sorry"],
      })
      const chat = yield* till.open()
      yield* chat.ask("refund", { onApproval: () => Effect.never }).result
      assert.deepStrictEqual(till.sent().outputs, [
        "tool call rejected: the approval request timed out",
      ])
    }).pipe(shop),
  )

  it.effect("a tool that waits for what nobody does is reported", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<string>()
      const wait = Agent.tool("wait", { run: () => Deferred.await(gate) })
      const test = Agent.test({ tools: [wait], script: [Agent.calls("wait"), "done"] })
      const chat = yield* test.open()
      const exit = yield* Effect.exit(chat.ask("go").result)
      assert.include(String(exit), "NothingToRun")
    }),
  )

  it.effect("a turn that was started goes on while the test does something else", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<string>()
      const wait = Agent.tool("wait", { run: () => Deferred.await(gate) })
      const test = Agent.test({ tools: [wait], script: [Agent.calls("wait"), "done"] })
      const chat = yield* test.open()
      const turn = yield* chat.ask("go").start
      yield* Deferred.succeed(gate, "open")
      assert.strictEqual((yield* turn.result).text, "done")
      assert.deepStrictEqual(test.sent().outputs, ["open"])
    }),
  )
})
