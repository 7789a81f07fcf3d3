import { Agent } from "colloquy"
import { Context, Effect, Layer, Schema } from "effect"

export class Shop extends Context.Service<
  Shop,
  { readonly refund: (order: string) => Effect.Effect<string> }
>()("Shop") {
  static readonly layer = Layer.succeed(Shop, {
    refund: (order) => Effect.succeed(`${order} was refunded`),
  })
}

export const refund = Agent.tool("refund", {
  description: "Pays an order back.",
  input: { order: Schema.String, cents: Schema.Int },
  approve: ({ cents }) => cents > 1000,
  run: ({ order }) => Effect.flatMap(Shop, (shop) => shop.refund(order)),
})

export const till = Agent.make({
  name: "till",
  version: "1.0.0",
  instructions: "You are a till.",
  model: Agent.openai("gpt-5"),
  tools: [refund],
  store: Agent.files("./state"),
})
