import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { resultOf, withApp } from "../../support/AppHarness.ts"

describe("getUserAgent", () => {
  it.effect.each([undefined, null, {}])("ignores its params: %j", (params) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "getUserAgent", params)), {
          userAgent: "colloquy (test; 1)",
        })
      }),
    ),
  )
})
