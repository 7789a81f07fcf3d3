import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, resultOf, withApp } from "../../support/AppHarness.ts"
import { savedConfig } from "../../support/SavedConfig.ts"

describe("setDefaultModel", () => {
  it.effect("saves both; an absent or `null` value is cleared", () => {
    const { config, written } = savedConfig({ profiles: {} })
    return withApp({ ports: { config } }, (app) =>
      Effect.gen(function* () {
        const all = [
          { model: "m", reasoningEffort: "high" },
          { model: "m", reasoningEffort: null },
          {},
        ]
        for (const [id, params] of all.entries()) {
          assert.deepStrictEqual(resultOf(yield* app.ask(id, "setDefaultModel", params)), {})
        }
        assert.deepStrictEqual(written, [
          { model: "m", reasoningEffort: "high" },
          { model: "m", reasoningEffort: undefined },
          { model: undefined, reasoningEffort: undefined },
        ])
      }),
    )
  })

  it.effect("fails if the file cannot be written", () =>
    withApp({ ports: { config: savedConfig({ profiles: {} }, "write").config } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "setDefaultModel", { model: "m" })), {
          code: -32603,
          message: "failed to persist overrides: config.toml:3: what is this?",
        })
      }),
    ),
  )

  it.effect("rejects an unknown effort, and writes nothing", () => {
    const { config, written } = savedConfig({ profiles: {} })
    return withApp({ ports: { config } }, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(
          yield* app.ask(1, "setDefaultModel", { model: "m", reasoningEffort: "utmost" }),
        )
        assert.strictEqual(code, -32600)
        assert.include(String(message), "Invalid request: params.reasoningEffort")
        assert.deepStrictEqual(written, [])
      }),
    )
  })
})
