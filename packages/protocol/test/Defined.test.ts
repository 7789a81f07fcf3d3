import { assert, describe, it } from "@effect/vitest"
import { defined } from "../src/Defined.ts"

describe("Defined", () => {
  it("leaves out members that are undefined and keeps every other value", () => {
    const absent: string | undefined = undefined
    assert.deepStrictEqual(defined({ a: 1, b: absent, c: null, d: false, e: "" }), {
      a: 1,
      c: null,
      d: false,
      e: "",
    })
  })

  it("gives an object of its own", () => {
    const members = { a: 1 }
    assert.notStrictEqual(defined(members), members)
  })
})
