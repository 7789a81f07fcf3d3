import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect, Schema } from "effect"

const forecast = Agent.tool("forecast", {
  description: "Says what the weather will be.",
  input: { city: Schema.String },
  run: ({ city }) => Effect.succeed(`rain in ${city}`),
})

it.effect("looks the weather up before it answers", () =>
  Effect.gen(function* () {
    const test = Agent.test({
      instructions: "You know the weather.",
      tools: [forecast],
      script: [Agent.calls("forecast", { city: "Bern" }), "Take an umbrella."],
    })
    const chat = yield* test.open()
    const { text } = yield* chat.ask("What do I need in Bern?").result
    assert.strictEqual(text, "Take an umbrella.")
    assert.deepStrictEqual(test.sent().outputs, ["rain in Bern"])
  }),
)
