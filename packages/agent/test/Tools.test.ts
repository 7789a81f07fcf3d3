/** Tools while they run: what they acquire, and what they wait for. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Agent } from "../src/testing/index.ts"

describe("the scope of a tool", () => {
  it.effect("is that of its call: what it acquires is released when the call ends", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const acquire = (what: string) =>
        Effect.acquireRelease(
          Effect.sync(() => log.push(`acquire ${what}`)),
          () => Effect.sync(() => log.push(`release ${what}`)),
        )
      const read = Agent.tool("read", {
        approve: () => Effect.as(acquire("rule"), true),
        run: () => Effect.as(acquire("run"), "text"),
      })
      const test = Agent.test({ tools: [read], script: [Agent.calls("read"), "done"] })
      const chat = yield* test.open()
      const onApproval = () => Effect.as(acquire("policy"), true)
      yield* chat.ask("read", { onApproval }).result
      const each = ["rule", "policy", "run"].flatMap((what) => [
        `acquire ${what}`,
        `release ${what}`,
      ])
      assert.deepStrictEqual(log, each)
      assert.deepStrictEqual(test.sent().outputs, ["text"])
    }),
  )
})
