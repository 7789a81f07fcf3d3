import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent } from "../src/testing/index.ts"

class Shop extends Context.Service<
  Shop,
  { readonly refund: (order: string) => Effect.Effect<string, "sold out"> }
>()("test/Shop") {}

const refund = Agent.tool("refund", {
  description: "Refunds an order.",
  input: { order: Schema.String, cents: Schema.Int },
  approve: ({ cents }) => cents > 1000,
  run: ({ order }) => Effect.flatMap(Shop, (shop) => shop.refund(order)),
})

const shop = Effect.provideService(Shop, { refund: (order) => Effect.succeed(`refunded ${order}`) })

const till = (...script: ReadonlyArray<Agent.ScriptedResponse>) => {
  const model = Agent.scripted(script)
  return { model, agent: Agent.make({ instructions: "You are a till.", model, tools: [refund] }) }
}

const outputs = (model: Agent.ScriptedModel) =>
  (model.requests.at(-1)?.input ?? []).flatMap((item) =>
    item.type === "function_call_output" ? [item.output] : [],
  )

describe("approvals", () => {
  it.effect("a tool that needs no approval runs with the services of open", () =>
    Effect.gen(function* () {
      const { agent, model } = till(Agent.calls("refund", { order: "A1", cents: 500 }), "done")
      const chat = yield* agent.open()
      assert.strictEqual((yield* chat.ask("refund A1").result).text, "done")
      assert.deepStrictEqual(outputs(model), ["refunded A1"])
      assert.strictEqual(model.requests[0]?.instructions, "You are a till.")
      assert.deepStrictEqual(
        model.requests[0]?.input.map((item) => item.type === "message" && item.content),
        [[{ type: "input_text", text: "refund A1" }]],
      )
    }).pipe(shop),
  )

  it.effect("a question has the decoded input and is answered by the ask", () =>
    Effect.gen(function* () {
      const { agent, model } = till(Agent.calls("refund", { order: "A1", cents: 5000 }), "done")
      const chat = yield* agent.open()
      const asked: Array<unknown> = []
      const events = yield* chat
        .ask("refund A1", {
          onApproval: ({ input, tool }) => {
            asked.push([tool, input.order, input.cents])
            return Effect.succeed("approved" as const)
          },
        })
        .pipe(
          Stream.map(({ type }) => type),
          Stream.runCollect,
        )
      assert.deepStrictEqual(asked, [["refund", "A1", 5000]])
      assert.deepStrictEqual(outputs(model), ["refunded A1"])
      assert.includeMembers(events, [
        "tool_approval_request",
        "approval_resolved",
        "tool_call_begin",
        "tool_call_end",
        "task_complete",
      ])
    }).pipe(shop),
  )

  it.effect("a question that nobody answers is denied at once, with the reason", () =>
    Effect.gen(function* () {
      const { agent, model } = till(Agent.calls("refund", { order: "A1", cents: 5000 }), "sorry")
      const chat = yield* agent.open()
      yield* chat.ask("refund A1").result
      assert.deepStrictEqual(outputs(model), [
        "tool call rejected: no client is available to approve it",
      ])
    }).pipe(shop),
  )

  it.effect("a policy that dies denies, and the conversation lives", () =>
    Effect.gen(function* () {
      const { agent, model } = till(
        Agent.calls("refund", { order: "A1", cents: 5000 }),
        "sorry",
        "hello",
      )
      const chat = yield* agent.open()
      yield* chat.ask("refund A1", { onApproval: () => Effect.die("no") }).result
      assert.include(outputs(model)[0], "rejected")
      assert.strictEqual((yield* chat.ask("hi").result).text, "hello")
    }).pipe(shop),
  )

  it.effect("the policy of the agent runs with the services of open", () =>
    Effect.gen(function* () {
      const model = Agent.scripted([Agent.calls("refund", { order: "A1", cents: 5000 }), "done"])
      const agent = Agent.make({
        instructions: "",
        model,
        tools: [refund],
        onApproval: ({ input }) => Effect.as(Shop, input.cents < 6000),
      })
      const chat = yield* agent.open()
      yield* chat.ask("refund A1").result
      assert.deepStrictEqual(outputs(model), ["refunded A1"])
    }).pipe(shop),
  )
})

describe("tools", () => {
  it.effect("a tool that fails or dies is a failure that the model reads", () =>
    Effect.gen(function* () {
      const model = Agent.scripted([
        [Agent.calls("fail"), Agent.calls("die"), Agent.calls("nothing")],
        "done",
      ])
      const agent = Agent.make({
        instructions: "",
        model,
        tools: [
          Agent.tool("fail", { run: () => Effect.fail("sold out") }),
          Agent.tool("die", { run: () => Effect.die(new Error("secret")) }),
          Agent.tool("nothing", { input: Schema.Struct({}), run: () => Effect.succeed({ a: 1 }) }),
        ],
      })
      const chat = yield* agent.open()
      assert.strictEqual((yield* chat.ask("go").result).text, "done")
      for (const offered of model.requests[0]?.tools ?? []) {
        assert.deepInclude(offered, {
          parameters: { type: "object", properties: {}, additionalProperties: false },
        })
      }
      assert.deepStrictEqual(outputs(model), [
        "tool `fail` failed: sold out",
        "tool `die` failed: internal error",
        '{"a":1}',
      ])
    }),
  )

  it.effect("a wrong input is reported to the model by field", () =>
    Effect.gen(function* () {
      const { agent, model } = till(Agent.calls("refund", { ordr: "A1", cents: 500 }), "done")
      const chat = yield* agent.open()
      yield* chat.ask("refund").result
      assert.include(outputs(model)[0], "order")
    }).pipe(shop),
  )

  it.effect("an exhausted script fails the turn with the request that nobody expected", () =>
    Effect.gen(function* () {
      const { agent } = till("one")
      const chat = yield* agent.open()
      yield* chat.ask("a").result
      const error = yield* Effect.flip(chat.ask("and again").result)
      assert.strictEqual(error._tag, "TurnFailed")
      assert.include(error.message, "nobody expected request 2")
      assert.include(error.message, "and again")
    }).pipe(shop),
  )
})
