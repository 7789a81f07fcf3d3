import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { account } from "../../support/Accounts.ts"
import { errorOf, outline, resultOf, withApp } from "../../support/AppHarness.ts"

describe("loginApiKey", () => {
  it.effect("stores the key and sends the notification after the response", () => {
    const { auth, key } = account()
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          resultOf(yield* app.ask(1, "loginApiKey", { apiKey: "sk-secret" })),
          {},
        )
        yield* app.quiet
        assert.strictEqual(key(), "sk-secret")
        assert.deepStrictEqual(outline(app).slice(1), ["answer 1", "authStatusChange"])
        assert.deepStrictEqual(app.messages.at(-1)?.params, { authMethod: "apikey" })
        assert.notInclude(app.texts.join(), "sk-secret")
      }),
    )
  })

  it.effect("an error does not contain the key, and nothing has changed", () => {
    const { auth } = account({ failing: "auth.json: permission denied" })
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "loginApiKey", { apiKey: "sk-secret" })), {
          code: -32603,
          message: "failed to save api key: auth.json: permission denied",
        })
        assert.deepStrictEqual(errorOf(yield* app.ask(2, "loginApiKey", { apikey: "sk-secret" })), {
          code: -32600,
          message: "Invalid request: params.apiKey: Missing key",
        })
        yield* app.quiet
        assert.deepStrictEqual(outline(app).slice(1), ["answer 1", "answer 2"])
        assert.notInclude(app.texts.join(), "sk-secret")
      }),
    )
  })

  it.effect.each(["", " ", "sk-secret\n", "sk secret", "sk-sécret"])(
    "%j is not a key, and changes nothing",
    (apiKey) => {
      const { auth, key } = account()
      return withApp({ ports: { auth } }, (app) =>
        Effect.gen(function* () {
          yield* app.ask(1, "loginApiKey", { apiKey: "sk-secret" })
          assert.deepStrictEqual(errorOf(yield* app.ask(2, "loginApiKey", { apiKey })), {
            code: -32600,
            message: "Invalid request: params.apiKey: Expected a key of visible ASCII letters",
          })
          yield* app.quiet
          assert.strictEqual(key(), "sk-secret")
          assert.deepStrictEqual(outline(app).slice(1), [
            "answer 1",
            "authStatusChange",
            "answer 2",
          ])
        }),
      )
    },
  )

  it.effect("a server that cannot store keys returns that error", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "loginApiKey", { apiKey: "k" })), {
          code: -32603,
          message: "failed to save api key: storing API keys is disabled",
        })
      }),
    ),
  )
})
