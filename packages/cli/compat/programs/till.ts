/** A till: an agent with one tool, whose large sums a person approves. Its state is in files. */
import { Agent } from "colloquy"
import { Console, Effect, Schema, Stream } from "effect"

export const refund = Agent.tool("refund", {
  description: "Refunds an order.",
  input: { order: Schema.String, cents: Schema.Int },
  approve: ({ cents }) => cents > 1000,
  run: ({ order }) => Effect.succeed(`refunded ${order}`),
})

export const till = Agent.make({
  instructions: "You are a till.",
  model: Agent.offline(),
  tools: [refund],
  store: Agent.files("./state"),
})

/** Asks the till, and prints the types of the events. */
export const main = Effect.gen(function* () {
  const chat = yield* till.open("counter 1")
  const onApproval = () => Effect.succeed("approved" as const)
  const types = yield* chat.ask("refund A1", { onApproval }).pipe(
    Stream.map(({ type }) => type),
    Stream.runCollect,
  )
  yield* Console.log(types.join(" "))
}).pipe(Effect.scoped)
