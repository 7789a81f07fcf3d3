import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, hello, initializeParams, resultOf, withApp } from "../../support/AppHarness.ts"

const gate = { code: -32600, message: "Not initialized" }

describe("initialize", () => {
  it.effect("returns the user agent of the server with this client", () =>
    withApp({ initialized: false }, (app) =>
      Effect.gen(function* () {
        const answer = yield* app.ask(1, "initialize", initializeParams())
        assert.deepStrictEqual(resultOf(answer), { userAgent: "colloquy (test; 1)" })
      }),
    ),
  )

  it.effect("no request is served before it, and no second `initialize` after it", () =>
    withApp({ initialized: false }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "newConversation", {})), gate)
        assert.deepStrictEqual(errorOf(yield* app.ask(2, "getUserAgent")), gate)
        yield* hello(app)
        resultOf(yield* app.ask(3, "newConversation", {}))
        assert.deepStrictEqual(errorOf(yield* app.ask(4, "initialize", initializeParams())), {
          code: -32600,
          message: "Already initialized",
        })
        const { userAgent } = resultOf(yield* app.ask(5, "getUserAgent"))
        assert.strictEqual(userAgent, "colloquy (test; 1)")
      }),
    ),
  )

  it.effect("invalid requests are reported as such also before it", () =>
    withApp({ initialized: false }, (app) =>
      Effect.gen(function* () {
        for (const [id, method, params, text] of [
          [
            1,
            "newConversatoin",
            {},
            "unknown method `newConversatoin`, did you mean `newConversation`?",
          ],
          [2, "sendUserMessage", {}, "params.conversationId: Missing key"],
          [3, "initialize", {}, "params.clientInfo: Missing key"],
          [4, "initialize", { clientInfo: { name: "x", version: 1 } }, "params.clientInfo.version"],
        ] as const) {
          const { code, message } = errorOf(yield* app.ask(id, method, params))
          assert.strictEqual(code, -32600)
          assert.isTrue(String(message).startsWith(`Invalid request: ${text}`), String(message))
        }
        yield* hello(app)
      }),
    ),
  )

  it.effect("`null` means absent", () =>
    withApp({ initialized: false }, (app) =>
      Effect.gen(function* () {
        const params = {
          clientInfo: { name: "x", title: null, version: "2" },
          capabilities: { approvals: null },
        }
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "initialize", params)), {
          userAgent: "colloquy (x; 2)",
        })
      }),
    ),
  )
})
