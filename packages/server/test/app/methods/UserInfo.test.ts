import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { account } from "../../support/Accounts.ts"
import { resultOf, withApp } from "../../support/AppHarness.ts"

describe("userInfo", () => {
  it.effect.each([["a@example.test", "a@example.test"] as const, [undefined, null] as const])(
    "returns the claimed email address: %j",
    ([email, expectedEmail]) =>
      withApp({ ports: { auth: account(email === undefined ? {} : { email }).auth } }, (app) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(resultOf(yield* app.ask(1, "userInfo")), {
            allegedUserEmail: expectedEmail,
          })
        }),
      ),
  )
})
