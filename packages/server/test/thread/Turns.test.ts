import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { resultOf } from "../support/AppHarness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

describe("turn/start", () => {
  it.effect("sends the turn with its items after the response", () =>
    withThreads({ script: [Script.reply(Script.deltas("Hel", "lo"))] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const before = app.messages.length
        const turnId = yield* turn(app, threadId, "hi", { clientUserMessageId: "mine" })
        yield* app.quiet
        assert.deepStrictEqual(lines(app, before), [
          "answer turn",
          "thread/status/changed active",
          "turn/started",
          "item/started userMessage",
          "item/completed userMessage",
          "item/started agentMessage",
          "item/agentMessage/delta",
          "item/agentMessage/delta",
          "item/completed agentMessage",
          "thread/tokenUsage/updated",
          "thread/readState/changed",
          "thread/status/changed idle",
          "turn/completed",
        ])
        assert.strictEqual(at(told(app, "item/completed"), 0, "item", "clientId"), "mine")
        const [completed] = told(app, "turn/completed")
        assert.strictEqual(at(completed, "turn", "id"), turnId)
        assert.strictEqual(at(completed, "turn", "items", 0, "text"), "Hello")
        const read = yield* app.ask("read", "thread/read", { threadId, includeTurns: true })
        const live = told(app, "item/completed").map((one) => at(one, "item"))
        assert.deepStrictEqual(at(resultOf(read), "thread", "turns", 0, "items"), live)
      }),
    ),
  )
})
