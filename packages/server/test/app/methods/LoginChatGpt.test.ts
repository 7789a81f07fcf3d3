import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { account, loginId } from "../../support/Accounts.ts"
import { errorOf, outline, resultOf, withApp } from "../../support/AppHarness.ts"

describe("loginChatGpt", () => {
  it.effect(
    "L2 is answered when the login was started; then its end and the new login are notified",
    () => {
      const { auth, end } = account()
      return withApp({ ports: { auth } }, (app) =>
        Effect.gen(function* () {
          const answer = yield* app.ask(1, "loginChatGpt")
          assert.deepStrictEqual(resultOf(answer), { loginId, authUrl: "http://issuer.test/login" })
          yield* app.quiet
          assert.deepStrictEqual(outline(app).slice(1), ["answer 1"])
          end()
          yield* app.quiet
          assert.deepStrictEqual(
            app.messages.slice(2).map(({ method, params }) => [method, params]),
            [
              ["loginChatGptComplete", { loginId, success: true }],
              ["authStatusChange", { authMethod: "chatgpt" }],
            ],
          )
        }),
      )
    },
  )

  it.effect("a failure is notified with its reason, and no login", () => {
    const { auth, end } = account()
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        yield* app.ask(1, "loginChatGpt", null)
        end("Login timed out")
        yield* app.quiet
        assert.deepStrictEqual(
          app.messages.slice(2).map(({ method, params }) => [method, params]),
          [["loginChatGptComplete", { loginId, success: false, error: "Login timed out" }]],
        )
      }),
    )
  })

  it.effect("a login that cannot be started is an error", () =>
    withApp({ ports: { auth: account({ failing: "port 1455 is taken" }).auth } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "loginChatGpt")), {
          code: -32603,
          message: "failed to start login server: port 1455 is taken",
        })
      }),
    ),
  )
})
