import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, resultOf, withApp } from "../../support/AppHarness.ts"
import { profile, savedConfig } from "../../support/SavedConfig.ts"

const saved = {
  approvalPolicy: "on-request",
  sandboxMode: "workspace-write",
  sandboxSettings: { writableRoots: ["/tmp"], networkAccess: true },
  model: "gpt-5",
  modelReasoningEffort: "high",
  tools: { webSearch: false },
  profile: "test",
  profiles: { test: { ...profile, model: "gpt-4o" } },
} as const

describe("getUserSavedConfig", () => {
  it.effect("returns the contents of the file, with `null` for what a profile does not set", () =>
    withApp({ ports: { config: savedConfig(saved).config } }, (app) =>
      Effect.gen(function* () {
        for (const [id, params] of [undefined, {}].entries()) {
          assert.deepStrictEqual(resultOf(yield* app.ask(id, "getUserSavedConfig", params)), {
            config: saved,
          })
        }
      }),
    ),
  )

  it.effect("returns no profiles if there is no file", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "getUserSavedConfig")), {
          config: { profiles: {} },
        })
      }),
    ),
  )

  it.effect.each(["load", "parse"] as const)("reports what is wrong with the file: %s", (step) =>
    withApp({ ports: { config: savedConfig(saved, step).config } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "getUserSavedConfig")), {
          code: -32603,
          message: `failed to ${step} config.toml: config.toml:3: what is this?`,
        })
      }),
    ),
  )
})
