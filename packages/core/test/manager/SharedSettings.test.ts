import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { ConversationSettings } from "../../src/ConversationSettings.ts"
import { SharedSettings } from "../../src/manager/loaded/SharedSettings.ts"
import { settings } from "../support.ts"

/** Equal settings of which no object is the same. */
const made = (fields: Partial<ConversationSettings> = {}): ConversationSettings => ({
  ...settings,
  provider: { ...settings.provider },
  killGrace: Duration.seconds(2),
  secretNames: ["KEY"],
  ...fields,
})

describe("SharedSettings", () => {
  it("keeps equal settings once, however many conversations have them", () => {
    const shared = new SharedSettings()
    const kept = new Set(Array.from({ length: 100 }, () => shared.share(made())))
    assert.strictEqual(kept.size, 1)
    assert.deepStrictEqual([...kept], [made()])
  })

  it("keeps what differs, and shares the rest", () => {
    const shared = new SharedSettings()
    const first = shared.share(made())
    const second = shared.share(made({ cwd: "/elsewhere" }))
    assert.deepStrictEqual(second, made({ cwd: "/elsewhere" }))
    assert.strictEqual(second.provider, first.provider)
    assert.strictEqual(second.secretNames, first.secretNames)
  })

  it("a member that only one of them has is neither added nor lost", () => {
    const shared = new SharedSettings()
    shared.share(made({ effort: "high" }))
    assert.deepStrictEqual(shared.share(made()), made())
    assert.deepStrictEqual(shared.share(made({ effort: "low" })), made({ effort: "low" }))
  })

  it("the rule of an embedding application is equal only to itself", () => {
    const shared = new SharedSettings()
    const [one, two] = [{ allow: () => true }, { allow: () => true }]
    assert.strictEqual(shared.share(made({ unattended: one })).unattended, one)
    assert.strictEqual(shared.share(made({ unattended: two })).unattended, two)
  })
})
