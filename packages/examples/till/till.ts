import { Agent } from "@colloquy/agent"
import { Context, Effect, Layer, Schema } from "effect"

export class Shop extends Context.Service<
  Shop,
  {
    readonly priceOf: (order: string) => Effect.Effect<number, "no such order">
    readonly refund: (order: string, cents: number) => Effect.Effect<string>
  }
>()("till/Shop") {
  static readonly layer = Layer.succeed(Shop, {
    priceOf: (order) => (order === "A1" ? Effect.succeed(2500) : Effect.fail("no such order")),
    refund: (order, cents) => Effect.succeed(`refunded ${cents} cents of ${order}`),
  })
}

const price = Agent.tool("price", {
  description: "What was paid for an order, in cents.",
  input: { order: Schema.String },
  readOnly: true,
  run: ({ order }) => Effect.flatMap(Shop, (shop) => shop.priceOf(order)),
})

const refund = Agent.tool("refund", {
  description: "Refunds an order, wholly or in part.",
  input: { order: Schema.String, cents: Schema.Int },
  approve: ({ cents }) => cents > 1000,
  run: ({ cents, order }) => Effect.flatMap(Shop, (shop) => shop.refund(order, cents)),
})

/** Responses for a run without a key: the till looks up the price, refunds it, and answers. */
const script = [
  [{ tool_call: { name: "price", arguments: { order: "A1" } } }],
  [{ tool_call: { name: "refund", arguments: { order: "A1", cents: 2500 } } }],
  [{ text: "That is settled." }],
]

export const till = Agent.make({
  instructions: "You are the till of a shop. Look up the price before you refund.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline({ script }),
  tools: [price, refund],
  budget: { turns: 20 },
})
