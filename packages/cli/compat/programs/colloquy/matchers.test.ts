import { expect, it } from "@effect/vitest"
import { Agent } from "colloquy/testing"
import { matchers } from "colloquy/testing/vitest"
import { Effect } from "effect"
import { Shop, till } from "./till.ts"

expect.extend(matchers)

it.effect("pays a small refund without a question", () =>
  Effect.gen(function* () {
    const order = { order: "A1", cents: 5 }
    const test = Agent.test({ agent: till, script: [Agent.calls("refund", order), "done"] })
    const chat = yield* test.open()
    yield* chat.ask("refund A1").result

    expect(test).toHaveCalled("refund", order)
    expect(test).toEndTurn("done")
    expect(test).toHaveBeenSent({ tools: ["refund"], outputs: ["A1 was refunded"] })
    expect(test).toSatisfyLaws({
      "no question": (log) =>
        log.flatMap(({ msg }) => (msg.type === "tool_approval_request" ? [msg.tool] : [])),
    })

    const messages = Agent.normalized(test.events()).map(({ msg }) => msg)
    expect(messages.find(({ type }) => type === "tool_call_end")).toMatchInlineSnapshot(`
      {
        "call_id": "<call 1>",
        "duration": "<duration>",
        "result": {
          "Ok": "A1 was refunded",
        },
        "tool": "refund",
        "type": "tool_call_end",
      }
    `)
  }).pipe(Effect.provide(Shop.layer)),
)
