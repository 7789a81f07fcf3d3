import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, resultOf, withApp } from "../../support/AppHarness.ts"
import { profile, savedConfig } from "../../support/SavedConfig.ts"

const { config } = savedConfig({
  profiles: {
    same: { ...profile, model: "mock-model" },
    none: profile,
    fast: { ...profile, model: "small", modelReasoningEffort: "low" },
  },
})

interface Entry {
  readonly id: string
  readonly isDefault: boolean
  readonly defaultReasoningEffort: string
}

const entries = (result: Readonly<Record<string, unknown>>) =>
  (result["items"] as ReadonlyArray<Entry>).map(({ defaultReasoningEffort, id, isDefault }) => ({
    id,
    isDefault,
    effort: defaultReasoningEffort,
  }))

const inEffect = { id: "mock-model", isDefault: true, effort: "medium" }
const fast = { id: "small", isDefault: false, effort: "low" }

describe("model/list", () => {
  it.effect("lists the model in effect and those of the profiles, each once", () =>
    withApp({ ports: { config } }, (app) =>
      Effect.gen(function* () {
        const result = resultOf(yield* app.ask(1, "model/list", {}))
        assert.deepStrictEqual(entries(result), [inEffect, fast])
        assert.isFalse("nextCursor" in result)
      }),
    ),
  )

  it.effect("returns pages", () =>
    withApp({ ports: { config } }, (app) =>
      Effect.gen(function* () {
        const first = resultOf(yield* app.ask(1, "model/list", { pageSize: 1 }))
        assert.deepStrictEqual(entries(first), [inEffect])
        const cursor = first["nextCursor"]
        const second = resultOf(yield* app.ask(2, "model/list", { pageSize: 1, cursor }))
        assert.deepStrictEqual([entries(second), second["nextCursor"]], [[fast], undefined])
        assert.deepStrictEqual(resultOf(yield* app.ask(3, "model/list", { pageSize: 0 })), {
          items: [],
        })
      }),
    ),
  )

  it.effect.each([{ cursor: "bogus" }, { cursor: 1 }, { pageSize: -1 }])("rejects %j", (params) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "model/list", params))
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith("Invalid request: params."), String(message))
      }),
    ),
  )
})
