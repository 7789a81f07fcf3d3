import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { toStored } from "@colloquy/core/store/Settings"
import { assert, describe, it } from "@effect/vitest"
import { withNamedProvider } from "../../src/config/NamedProvider.ts"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"

const settings: ConversationSettings = {
  ...scriptedSettings(),
  model: "configured",
  contextWindow: 1000,
}

/** What is stored with another model, and the provider with this id. */
const storedOf = (id: string) => ({
  ...toStored({ ...settings, model: "stored", contextWindow: 5, effort: "high" }),
  provider: id,
})

const override = (path: string) => [{ path, value: settings.provider.id }]

describe("NamedProvider", () => {
  it("is used with the model, the context window and the effort of the configuration", () => {
    const loaded = withNamedProvider({ overrides: override("model_provider"), settings })
    assert.deepStrictEqual(loaded(storedOf("gone")), toStored(settings))
    const high = withNamedProvider({
      overrides: override("model_provider"),
      settings: { ...settings, effort: "low" },
    })
    assert.strictEqual(high(storedOf("gone")).effort, "low")
  })

  it("changes nothing of a conversation that has it, and where none is named", () => {
    const named = withNamedProvider({ overrides: override("model_provider"), settings })
    const same = storedOf(settings.provider.id)
    assert.deepStrictEqual(named(same), same)
    const other = withNamedProvider({ overrides: override("model"), settings })
    assert.deepStrictEqual(other(storedOf("gone")), storedOf("gone"))
  })
})
