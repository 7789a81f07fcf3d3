import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { account } from "../../support/Accounts.ts"
import { errorOf, outline, resultOf, withApp } from "../../support/AppHarness.ts"

describe("logoutChatGpt", () => {
  it.effect("deletes the login, and sends the notification after the response", () => {
    const { auth, key } = account()
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        yield* app.ask(1, "loginApiKey", { apiKey: "k" })
        yield* app.quiet
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "logoutChatGpt")), {})
        yield* app.quiet
        assert.isUndefined(key())
        assert.deepStrictEqual(outline(app).slice(-2), ["answer 2", "authStatusChange"])
        assert.deepStrictEqual(app.messages.at(-1)?.params, {})
      }),
    )
  })

  it.effect("a key in the environment remains, and is notified", () => {
    const { auth } = account({ status: { required: true, method: "apikey" } })
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        yield* app.ask(1, "logoutChatGpt")
        yield* app.quiet
        assert.deepStrictEqual(app.messages.at(-1)?.params, { authMethod: "apikey" })
      }),
    )
  })

  it.effect("a failure is an error with its reason", () =>
    withApp({ ports: { auth: account({ failing: "the disk is full" }).auth } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "logoutChatGpt")), {
          code: -32603,
          message: "logout failed: the disk is full",
        })
      }),
    ),
  )
})
