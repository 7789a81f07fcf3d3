import { assert, describe, it } from "@effect/vitest"
import { toStored, withStored } from "../../src/store/Settings.ts"
import { modeInstructionsOf } from "../../src/turn/CollaborationMode.ts"
import { instructionsOf } from "../../src/turn/Instructions.ts"
import { settings } from "../support.ts"

const own = { mode: "plan", developerInstructions: "Ask twice." } as const

describe("the collaboration mode", () => {
  it("adds its instructions behind those of the developer: its own, or the built-in ones", () => {
    const given = { ...settings, developerInstructions: "Be brief." }
    const plan = instructionsOf({ ...given, collaborationMode: { mode: "plan" } })
    assert.match(plan, /Be brief\.\n\nYou are in plan mode/)
    assert.match(instructionsOf({ ...given, collaborationMode: own }), /Be brief\.\n\nAsk twice\.$/)
    assert.isUndefined(modeInstructionsOf({ collaborationMode: { mode: "default" } }))
    assert.isUndefined(modeInstructionsOf({}))
  })

  it("is stored with the conversation", () => {
    const stored = toStored({ ...settings, collaborationMode: own })
    assert.deepStrictEqual(withStored(settings, stored).collaborationMode, own)
  })
})
