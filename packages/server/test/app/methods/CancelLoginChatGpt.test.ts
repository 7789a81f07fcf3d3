import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { account, loginId } from "../../support/Accounts.ts"
import { errorOf, resultOf, unknownId, type Refusal, withApp } from "../../support/AppHarness.ts"

describe("cancelLoginChatGpt", () => {
  it.effect("ends the login, and sends one notification of its end", () =>
    withApp({ ports: { auth: account().auth } }, (app) =>
      Effect.gen(function* () {
        yield* app.ask(1, "loginChatGpt")
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "cancelLoginChatGpt", { loginId })), {})
        yield* app.quiet
        assert.deepStrictEqual(app.messages.at(-1)?.params, {
          loginId,
          success: false,
          error: "Login was not completed",
        })
        assert.deepStrictEqual(errorOf(yield* app.ask(3, "cancelLoginChatGpt", { loginId })), {
          code: -32600,
          message: `login id not found: ${loginId}`,
        })
      }),
    ),
  )

  it.effect.each([
    [{ loginId: unknownId }, `login id not found: ${unknownId}`],
    [{ loginId: "x" }, "Invalid request: params.loginId: expected a UUID"],
    [{}, "Invalid request: params.loginId: Missing key"],
  ] as ReadonlyArray<Refusal>)("refuses %j", ([params, text]) =>
    withApp({ ports: { auth: account().auth } }, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "cancelLoginChatGpt", params))
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(text), String(message))
      }),
    ),
  )
})
