import { assert, describe, it } from "@effect/vitest"
import { slashCommands, slashOf } from "../../src/terminal/chat/SlashCommands.ts"

describe("slashOf", () => {
  it("finds each command, whatever its case, and nothing in a path", () => {
    for (const name of Object.keys(slashCommands) as ReadonlyArray<keyof typeof slashCommands>) {
      assert.deepStrictEqual(slashOf(` /${name.toUpperCase()} `), {
        _tag: "Slash",
        name,
        argument: "",
      })
    }
    assert.isUndefined(slashOf("/etc/hosts is missing"))
    assert.isUndefined(slashOf("/fork\nand more"))
  })

  it("refuses an argument of each command but one name of `/model`", () => {
    for (const name of Object.keys(slashCommands).filter((one) => one !== "model")) {
      assert.deepStrictEqual(slashOf(`/${name} x`), {
        _tag: "Refused",
        message: `/${name} takes no argument`,
      })
    }
    assert.deepStrictEqual(slashOf("/model  a-b/c "), {
      _tag: "Slash",
      name: "model",
      argument: "a-b/c",
    })
    assert.deepStrictEqual(slashOf("/model a b"), {
      _tag: "Refused",
      message: "/model takes one name",
    })
  })
})
