import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parse } from "../../src/features/PromptText.ts"
import { parse as parseTemplate } from "../../src/features/UriTemplate.ts"

describe("a template of addresses", () => {
  it("L13 returns a variable named `__proto__` like any other", () => {
    const values = Result.getOrThrow(parseTemplate("x:{__proto__}/{a}")).match("x:1/2")
    assert.deepStrictEqual(Object.entries(values ?? {}), [
      ["__proto__", "1"],
      ["a", "2"],
    ])
  })
})

describe("a hostile prompt file", () => {
  const spaces = " ".repeat(200_000)
  for (const [what, matter] of [
    ["spaces within a value", `description: a${spaces}b${spaces}c`],
    ["brackets that are not closed", `argument-hint: ${"[ < ".repeat(100_000)}`],
    ["spaces before a colon", `description${spaces}x: y`],
  ] as const) {
    it(`L13 of ${what} is read in linear time`, { timeout: 20_000 }, () => {
      const prompt = Result.getOrThrow(parse(`---\n${matter}\n---\nhello $1`))
      assert.strictEqual(prompt.body, "hello $1")
    })
  }
})
