import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect, Schema } from "effect"

/** A shop with one book. `look` and `take` are steps between which somebody else may buy it. */
const makeShop = (careful: boolean) => {
  const shop = { books: 1 }
  const buy = Agent.tool("buy", {
    input: { title: Schema.String },
    run: () =>
      Effect.gen(function* () {
        if (shop.books === 0) return "sold out"
        if (!careful) yield* Effect.yieldNow
        shop.books--
        return "sold"
      }),
  })
  return { shop, buy }
}

/** Two customers want the book at the same time. */
const market = (careful: boolean) =>
  Effect.gen(function* () {
    const { buy, shop } = makeShop(careful)
    const seller = Agent.test({
      tools: [buy],
      script: ({ input }) =>
        input.some(({ type }) => type === "function_call_output")
          ? "done"
          : Agent.calls("buy", { title: "Emma" }),
    })
    const ask = (name: string) =>
      Effect.flatMap(seller.open(name), (chat) => chat.ask("Emma, please").result)
    yield* Effect.all([ask("ann"), ask("bob")], { concurrency: 2 })
    return shop.books
  })

const laws = {
  "nothing is sold twice": (_log: Agent.EventLog, { value }: Agent.SimulatedRun<number>) =>
    value === -1 ? ["the book was sold twice"] : [],
}

it.effect("nothing is sold twice, in whatever order things happen", () =>
  Agent.simulate(Agent.seeds(20), market(true), laws),
)

it.effect("a shop that looks before it takes sells twice, and the trace shows how", () =>
  Effect.gen(function* () {
    const failure = yield* Effect.flip(Agent.simulate(Agent.seeds(100), market(false), laws))
    assert.include(failure.message, "nothing is sold twice: the book was sold twice")
    assert.include(failure.trace, 'tool_call_begin {"call_id":"<call 1>","tool":"buy"')
  }),
)
