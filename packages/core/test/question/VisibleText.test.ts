import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { attributed, isVisible, quoted, spelledOut } from "../../src/question/VisibleText.ts"
import { dangerous, Hostile, hostileText } from "./hostile.ts"

/** Reads the original text back from the quotation marks; undefined when characters were left out. */
const recovered = (text: string, label: string): string | undefined => {
  assert.isTrue(text.startsWith(`${label}:`))
  const rows = text
    .slice(label.length + 1)
    .split("\n")
    .map((row) => row.trim())
    .filter((row) => row !== "")
  if (rows.some((row) => /^… \d+ more characters? …$/.test(row))) return undefined
  return rows
    .map((row) => {
      assert.match(row, /^".*"$/)
      return row.slice(1, -1)
    })
    .join("")
    .replaceAll(
      /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([\s\S]))/g,
      (_, x?: string, u?: string, long?: string, char?: string) => {
        if (char !== undefined) return char === "n" ? "\n" : char === "t" ? "\t" : char
        return String.fromCodePoint(Number.parseInt(x ?? u ?? long ?? "", 16))
      },
    )
}

describe("VisibleText", () => {
  it.effect.prop(
    "L7 foreign text in a question has no dangerous character, is bounded, is in quotation marks on each line, and can be recovered",
    [Hostile],
    ([parts]) =>
      Effect.sync(() => {
        const text = hostileText(parts)
        const shown = attributed("The model gives this reason", text)
        assert.notMatch(shown, dangerous)
        assert.isAtMost(shown.length, 1_200)
        const [first = "", ...rows] = shown.split("\n")
        assert.match(first, /^The model gives this reason:(?: ".*")?$/)
        for (const row of rows) assert.match(row, /^ {2}(?:".*"|… \d+ more characters? …)$/)
        for (const row of rows) assert.isAtMost(row.length, 80)
        const back = recovered(shown, "The model gives this reason")
        // Two lone surrogates that are adjacent in the text form one character.
        if (back !== undefined) assert.strictEqual(back, text)
        else assert.isAbove(text.length, 10)
      }),
    { arbitrary: { runs: 500 } },
  )

  it.effect.prop(
    "L7 a name or a title is one line of bounded length",
    [Hostile],
    ([parts]) =>
      Effect.sync(() => {
        const shown = quoted(hostileText(parts))
        assert.notMatch(shown, dangerous)
        assert.notInclude(shown, "\n")
        assert.isAtMost(shown.length, 200)
      }),
    { arbitrary: { runs: 300 } },
  )

  it("L7 every character of Unicode that a display may hide or interpret is escaped", () => {
    for (let code = 0; code < 0x11_0000; code++) {
      const shown = spelledOut(`a${String.fromCodePoint(code)}`)
      if (dangerous.test(shown) || shown.includes("\n")) assert.fail(`U+${code.toString(16)}`)
    }
  })

  it.each([
    ["plain words, größe, 漢字, שלום, é", true],
    ["e\u0301\u0302\u0303 stacked three high", true],
    ["e\u0301\u0302\u0303\u0304 stacked four high", false],
    ["\u0301 without a letter", false],
    ["no\u00a0break", false],
    ["variation\ufe0f", false],
  ])("%s can be seen as it is: %s", (text, expected) => {
    assert.strictEqual(isVisible(text), expected)
    assert.strictEqual(spelledOut(text) === text, expected)
  })

  it("shows the beginning and the end of a long text and counts what is between", () => {
    const text = `begin ${"x".repeat(100_000)} end`
    const shown = attributed("R", text)
    assert.match(shown, /"begin x/)
    assert.match(shown, /x end"$/)
    const kept = [...shown.matchAll(/"(.*)"/g)].reduce(
      (total, [, row = ""]) => total + row.length,
      0,
    )
    assert.include(shown, `… ${text.length - kept} more characters …`)
  })
})
