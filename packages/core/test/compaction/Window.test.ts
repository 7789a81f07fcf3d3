import { assert, describe, it } from "@effect/vitest"
import { initialState } from "../../src/decider/State.ts"
import { decide } from "../../src/decider/Decide.ts"
import { submit } from "../decisions.ts"
import { settings } from "../support.ts"

/** The context window in the settings after the op `override_turn_context`. */
const windowAfter = (from: string, contextWindow: number | null, model?: string) => {
  const state = initialState({ ...settings, model: from, contextWindow })
  const op = { type: "override_turn_context", ...(model === undefined ? {} : { model }) } as const
  return decide(state, submit(op)).state.settings.contextWindow
}

describe("the window of the context", () => {
  it("is that of the model, also after a change of the model", () => {
    assert.deepStrictEqual(
      [
        windowAfter("gpt-5", 272_000, "gpt-4o"),
        windowAfter("gpt-5", 272_000, "someone's"),
        windowAfter("someone's", null, "gpt-5"),
        windowAfter("gpt-5", 272_000),
      ],
      [128_000, null, 272_000, 272_000],
    )
  })

  it("stays as configured", () => {
    assert.strictEqual(windowAfter("gpt-5", 50_000, "gpt-4o"), 50_000)
  })
})
