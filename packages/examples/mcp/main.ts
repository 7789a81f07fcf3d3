import { Agent } from "@colloquy/agent"
import { Effect, Schema } from "effect"

const time = Agent.tool("time", {
  description: "The time in a city.",
  input: { city: Schema.String },
  readOnly: true,
  run: ({ city }) =>
    Effect.sync(() => `It is ${new Date().toUTCString()} in UTC; ${city} differs.`),
})

const clock = Agent.make({
  name: "clock",
  version: "1.0.0",
  description: "Knows the time in every city.",
  instructions: "You tell the time.",
  model: process.env.OPENAI_API_KEY ? Agent.openai("gpt-5") : Agent.offline(),
  tools: [time],
  store: Agent.files("./state"),
})

await Effect.runPromise(Agent.serve(clock))
