/** JSON that a terminal shows as it is. */
import { assert, describe, it } from "@effect/vitest"
import { jsonText } from "../../src/terminal/JsonText.ts"

describe("jsonText", () => {
  it("escapes what a terminal would obey or hide, and is read as the same value", () => {
    const value = { text: "a\u009b31m\u202eb\u2028\u007f\u{e0001}", plain: ["é", "日本", "🙂"] }
    const text = jsonText(value)
    assert.strictEqual(
      text,
      String.raw`{"text":"a\u009b31m\u202eb\u2028\u007f\udb40\udc01","plain":["é","日本","🙂"]}`,
    )
    assert.deepStrictEqual(JSON.parse(text), value)
  })

  it("indents", () => {
    assert.strictEqual(jsonText({ a: 1 }, 2), '{\n  "a": 1\n}')
  })
})
