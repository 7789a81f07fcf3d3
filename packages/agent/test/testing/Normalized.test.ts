import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Agent } from "../../src/testing/index.ts"

const refund = Agent.tool("refund", {
  input: { order: Schema.String },
  run: ({ order }) => Effect.as(Effect.sleep("3 seconds"), `refunded ${order}`),
})

const events = Effect.gen(function* () {
  const till = Agent.test({
    tools: [refund],
    script: [Agent.calls("refund", { order: "A1" }), "done", "bye"],
  })
  const chat = yield* till.open()
  yield* chat.ask("refund A1").result
  yield* chat.ask("bye").result
  return { live: till.events(), recorded: yield* Agent.eventsOf(chat) }
})

describe("normalized", () => {
  it.effect("events of two runs are equal, and what belongs together is still seen", () =>
    Effect.gen(function* () {
      const first = yield* events
      yield* TestClock.adjust("1 day")
      const second = yield* events
      assert.notDeepEqual(first, second)
      assert.deepStrictEqual(Agent.normalized(first), Agent.normalized(second))
      const ids = Agent.normalized(first.live).map(({ id }) => id)
      assert.deepStrictEqual([...new Set(ids)], ["<id 1>", "<id 2>"])
      const end = Agent.normalized(first.live).find(({ msg }) => msg.type === "tool_call_end")
      assert.deepInclude<unknown>(end?.msg, { call_id: "<call 1>", duration: "<duration>" })
    }),
  )

  it.effect("the events of a chat are those that were recorded, from the first on", () =>
    Effect.gen(function* () {
      const { live, recorded } = yield* events
      assert.strictEqual(recorded[0]?.msg.type, "session_configured")
      assert.deepStrictEqual(
        recorded.slice(1),
        live.filter(({ msg }) => msg.type !== "agent_message_delta"),
      )
    }),
  )

  it("values that are no JSON keep their members", () => {
    const id = "01890a5d-ac96-774b-bcce-b302099a8057"
    const cyclic: Record<string, unknown> = { id }
    cyclic["self"] = cyclic
    assert.deepStrictEqual<unknown>(
      Agent.normalized([
        new Map([[id, new Set([id])]]),
        { [id]: DateTime.toDate(DateTime.makeUnsafe(0)), for: Duration.seconds(2) },
        new Error(`no ${id}`),
        cyclic,
      ]),
      [
        new Map([["<id 1>", new Set(["<id 1>"])]]),
        { "<id 1>": "<time 1>", for: "<duration>" },
        { message: "no <id 1>" },
        { id: "<id 1>", self: "<cycle>" },
      ],
    )
  })

  it("ids within texts and times are replaced, other values are not", () => {
    const id = "01999999-0000-7000-8000-000000000001"
    assert.deepStrictEqual(
      Agent.normalized({ a: [`x ${id} y`, id.toUpperCase()], at: "2026-01-02T03:04:05Z", n: 1 }),
      { a: ["x <id 1> y", "<id 1>"], at: "<time 1>", n: 1 },
    )
  })
})
