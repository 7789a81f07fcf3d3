import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { created, listening, resultOf, say, withApp } from "../../support/AppHarness.ts"

const limits = { primary: { used_percent: 12 }, secondary: null }

const script: Script.ProviderScript = [
  Script.reply(Script.toolCall("limits", {}, "c")),
  Script.reply(Script.text("done")),
]

const tools = ToolRuntime.simple({
  specs: () => [],
  run: (_, { emit }) =>
    Effect.as(emit({ type: "token_count", info: null, rate_limits: limits }), "reported"),
})

describe("account/rateLimits/read", () => {
  it.effect("returns what the provider reported last, at first nothing", () =>
    withApp({ script, tools }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "account/rateLimits/read")), {
          rateLimits: { primary: null, secondary: null },
        })
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "account/rateLimits/read")), {
          rateLimits: limits,
        })
      }),
    ),
  )
})
