import { assert, describe, it } from "@effect/vitest"
import { failureText } from "../../src/JsonRpc.ts"
import { shortened } from "../../src/text/Shortened.ts"

describe("shortened", () => {
  it("keeps a text that is short enough", () => {
    assert.strictEqual(shortened("abc", 3), "abc")
  })

  it("cuts a long one with an ellipsis, never within a character", () => {
    assert.strictEqual(shortened("abcd", 3), "abc…")
    assert.strictEqual(shortened("ab💥d", 3), "ab…")
    assert.strictEqual(shortened("ab💥d", 4), "ab💥…")
  })

  it("the message of an error has a bound wherever it is written", () => {
    for (const form of ["2.0", "bare"] as const) {
      const text = failureText(1, { code: -32600, message: "💥".repeat(1_000_000) }, form)
      const { error } = JSON.parse(text) as { readonly error: { readonly message: string } }
      assert.strictEqual(error.message.length, 4097)
      assert.isTrue(error.message.isWellFormed())
    }
  })
})
