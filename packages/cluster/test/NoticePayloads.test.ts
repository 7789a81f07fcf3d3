/** Texts of any length as payloads of notifications. */
import { assert, describe, it } from "@effect/vitest"
import { ArrivingTexts, payloadsOf } from "../src/internal/NoticePayloads.ts"

/** What arrives of these payloads, in their order. */
const arrived = (payloads: ReadonlyArray<string>) => {
  const texts = new ArrivingTexts()
  return payloads.flatMap((payload) => texts.add(payload) ?? [])
}

const bytes = (text: string) => new TextEncoder().encode(text).length

/** Texts that take much room: quotes, which are escaped, and characters of two to four bytes at every place of a border. */
const long = ["\\", '"', "ä", "漢", "😀", "a😀", "\n", "\u0000"].map((unit) =>
  JSON.stringify(unit.repeat(6000)),
)

describe("payloads of notices", () => {
  it("carry a text of any length, each within the limit of PostgreSQL", () => {
    for (const text of ["", "short", ...long]) {
      const payloads = payloadsOf("a", 1, text)
      assert.isTrue(payloads.every((payload) => bytes(payload) < 8000))
      assert.deepStrictEqual(arrived(payloads), [{ node: "a", text }])
    }
  })

  it("are different for equal texts, of which PostgreSQL would send one only", () => {
    assert.notDeepEqual(payloadsOf("a", 1, "text"), payloadsOf("a", 2, "text"))
  })

  it("make no text of one that lacks a part, and the texts around it arrive", () => {
    const text = "x".repeat(9000)
    const [first = "", second = "", ...rest] = payloadsOf("a", 1, text)
    const after = payloadsOf("b", 1, "after")
    const expected = [{ node: "b", text: "after" }]
    for (const cut of [
      [first, ...rest],
      [second, ...rest],
      [first, second],
      [first, first, ...rest],
      [first, second, ...payloadsOf("b", 1, text).slice(2)],
      [first, second, ...payloadsOf("a", 2, text).slice(2)],
    ]) {
      assert.deepStrictEqual(arrived(["{}", ...cut, "no JSON", ...after]), expected)
    }
  })
})
