import { assert, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { Effect } from "effect"
import { Shop, refund } from "./till.ts"

const order = { order: "A1", cents: 5000 }

it.effect("the disk is full, and there is room again", () =>
  Effect.gen(function* () {
    const store = Agent.faultyStore()
    const test = Agent.test({ store: store.layer, script: () => "done" })
    const chat = yield* test.open()
    store.room = 0
    const error = yield* Effect.flip(chat.ask("refund A1").result)
    assert.include(error.message, "there is no space left")
    store.room = Infinity
    assert.strictEqual((yield* chat.ask("again").result).text, "done")
  }),
)

it.effect("the connection to the provider breaks in the middle of an answer", () =>
  Effect.gen(function* () {
    const test = Agent.test({
      script: [
        ["do", Agent.disconnects],
        [Agent.pauses("1 hour"), "done"],
      ],
    })
    const chat = yield* test.open()
    assert.strictEqual((yield* chat.ask("refund A1").result).text, "done")
  }),
)

it.effect("an MCP client calls the agent, and is asked", () =>
  Effect.gen(function* () {
    const script = [Agent.calls("refund", order), "done"]
    const test = Agent.test({ name: "till", tools: [refund], script })
    const { callTool } = yield* Agent.mcpClient(test, {
      onElicitation: () => Effect.succeed({ action: "accept", content: { decision: "approved" } }),
    })
    const { structuredContent } = yield* callTool("till", { message: "refund A1" })
    assert.propertyVal(structuredContent, "answer", "done")
    assert.deepStrictEqual(test.sent().outputs, ["A1 was refunded"])
  }).pipe(Effect.provide(Shop.layer)),
)
