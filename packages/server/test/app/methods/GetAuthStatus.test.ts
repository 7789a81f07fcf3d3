import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { account } from "../../support/Accounts.ts"
import { errorOf, resultOf, withApp } from "../../support/AppHarness.ts"

describe("getAuthStatus", () => {
  it.effect("returns the token only if the client asks for it", () =>
    withApp({ ports: { auth: account().auth } }, (app) =>
      Effect.gen(function* () {
        const ask = (id: number, params: object) =>
          Effect.map(app.ask(id, "getAuthStatus", params), resultOf)
        assert.deepStrictEqual(yield* ask(1, { includeToken: true }), { requiresOpenaiAuth: true })
        yield* app.ask(2, "loginApiKey", { apiKey: "k" })
        const known = { authMethod: "apikey", requiresOpenaiAuth: true }
        assert.deepStrictEqual(yield* ask(3, {}), known)
        assert.deepStrictEqual(yield* ask(4, { includeToken: true, refreshToken: null }), {
          ...known,
          authToken: "k",
        })
        assert.deepStrictEqual(yield* ask(5, { includeToken: true, refreshToken: true }), {
          ...known,
          authToken: "fresh k",
        })
      }),
    ),
  )

  it.effect("returns nothing else for a provider without a login; params may be absent", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const answer = yield* app.ask(1, "getAuthStatus")
        assert.deepStrictEqual(resultOf(answer), { requiresOpenaiAuth: false })
      }),
    ),
  )

  it.effect("rejects a value that is not a boolean", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(
          yield* app.ask(1, "getAuthStatus", { includeToken: "yes" }),
        )
        assert.strictEqual(code, -32600)
        assert.include(String(message), "params.includeToken")
      }),
    ),
  )
})
