import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Agent } from "../../src/testing/index.ts"

class Shop extends Context.Service<Shop, { readonly stock: { left: number } }>()("test/Shop") {}

/** Sells what is left; `careful` looks and takes in one step, so that no other fiber gets between. */
const sale = (careful: boolean) =>
  Agent.tool("buy", {
    input: { order: Schema.String },
    run: () =>
      Effect.gen(function* () {
        const { stock } = yield* Shop
        if (stock.left === 0) return "sold out"
        if (!careful) yield* Effect.yieldNow
        stock.left--
        return "sold"
      }),
  })

/** Two chats want the last one. */
const market = (careful: boolean) =>
  Effect.suspend(() => {
    const stock = { left: 1 }
    return Effect.gen(function* () {
      const shop = Agent.test({
        tools: [sale(careful)],
        script: ({ input }) =>
          input.some(({ type }) => type === "function_call_output")
            ? "done"
            : Agent.calls("buy", { order: "A1" }),
      })
      const ask = (name: string) =>
        Effect.flatMap(shop.open(name), (chat) => chat.ask("buy").result)
      yield* Effect.all([ask("a"), ask("b")], { concurrency: 2 })
      return stock.left
    }).pipe(Effect.provideService(Shop, { stock }))
  })

const laws = {
  "one is sold": (_: Agent.EventLog, run: Agent.SimulatedRun<number>) =>
    run.value === undefined || run.value >= 0 ? [] : [`${run.value} are left`],
}

const tooFew = (left: number | undefined) => (left === 0 ? ["too few"] : [])

describe("Agent.simulate", () => {
  it.effect("the laws hold in every interleaving, which differ from seed to seed", () =>
    Effect.gen(function* () {
      const report = yield* Agent.simulate(Agent.seeds(50), market(true), laws)
      assert.strictEqual(report.runs, 50)
      assert.isAbove(report.differentRuns, 10)
      assert.isAbove(report.events, 500)
    }),
  )

  it.effect("a broken law fails with the seed, the violation and the shortest trace", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(Agent.simulate(Agent.seeds(200), market(false), laws))
      assert.deepInclude(failure.violations[0], { law: "one is sold", what: "-1 are left" })
      assert.include(failure.trace, "<conversation 2>")
      assert.include(failure.message, `seed ${failure.seed} fails`)
      // The same seed fails in the same way.
      const again = yield* Effect.flip(Agent.simulate(failure.seed, market(false), laws))
      assert.deepStrictEqual(again, failure)
    }),
  )

  it.effect("a program that fails, dies or waits for ever fails its seed", () =>
    Effect.gen(function* () {
      const what = <E>(program: Effect.Effect<unknown, E>) =>
        Effect.map(
          Effect.flip(Agent.simulate(1, program)),
          ({ violations }) => `${violations[0]?.law}: ${violations[0]?.what}`,
        )
      assert.include(yield* what(Effect.fail("no money")), "program: Error: no money")
      assert.include(yield* what(Effect.sync(() => assert.fail("wrong"))), "wrong")
      assert.include(yield* what(Effect.never), "waits for something that nothing does")
      assert.include(yield* what(Effect.forever(Effect.yieldNow)), "does not end")
    }),
  )

  it.effect("time is virtual, and interrupted turns keep the laws", () =>
    Effect.gen(function* () {
      const program = Effect.gen(function* () {
        const gate = yield* Deferred.make<string>()
        const wait = Agent.tool("wait", { run: () => Deferred.await(gate) })
        const till = Agent.test({ tools: [wait], script: [Agent.calls("wait"), "late"] })
        const chat = yield* till.open()
        const error = yield* Effect.flip(chat.ask("go", { budget: { time: "1 hour" } }).result)
        assert.strictEqual(error._tag, "BudgetExceeded")
      })
      yield* Agent.simulate(Agent.seeds(30), program)
    }),
  )

  it.effect("a law that throws fails its seed, and what is no law or no seed is refused", () =>
    Effect.gen(function* () {
      const assertion = () => {
        assert.strictEqual(1, 2)
        return []
      }
      const failure = yield* Effect.flip(Agent.simulate(1, market(true), { mine: assertion }))
      assert.deepStrictEqual(failure.violations, [{ law: "mine", what: "expected 1 to equal 2" }])
      const refusal = (seed: unknown, laws: unknown) =>
        Effect.map(
          Effect.exit(
            Agent.simulate(seed as number, market(true), laws as Record<string, Agent.Law>),
          ),
          String,
        )
      assert.include(yield* refusal(1, { mine: () => true }), "expected an array with one text")
      assert.include(yield* refusal(1, [() => []]), "an object of laws by their names")
      assert.include(yield* refusal(NaN, {}), "Agent.simulate seed 0: expected a whole number")
      assert.throws(() => Agent.seeds(-1), "Agent.seeds count: expected a whole number from 1 on")
    }),
  )

  it.effect("a stuck turn is named, and laws without anything to check fail", () =>
    Effect.gen(function* () {
      const wait = Agent.tool("wait", { run: () => Effect.never })
      const stuck = Effect.gen(function* () {
        const chat = yield* Agent.test({ tools: [wait], script: [Agent.calls("wait")] }).open()
        yield* chat.ask("go").result
      })
      const { message } = yield* Effect.flip(Agent.simulate(1, stuck))
      assert.include(message, 'in the turn "go", the tool wait runs with {}')
      const empty = yield* Effect.flip(Agent.simulate(1, Effect.succeed(1), { mine: () => [] }))
      assert.include(empty.message, "there is nothing to check the laws on")
      yield* Agent.simulate(1, Effect.succeed(1))
    }),
  )

  it.effect("a law knows what the program returns, and no seeds are no simulation", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(
        Agent.simulate(3, market(true), { "one is left": (_, { value }) => tooFew(value) }),
      )
      assert.deepStrictEqual(failure.violations, [{ law: "one is left", what: "too few" }])
      const exit = yield* Effect.exit(Agent.simulate([], market(true)))
      assert.include(String(exit), "expected at least one")
    }),
  )
})
