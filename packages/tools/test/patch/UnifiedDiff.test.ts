import { assert, describe, it } from "@effect/vitest"
import { applyPatch } from "diff/lib/patch/apply.js"
import * as UnifiedDiff from "../../src/patch/UnifiedDiff.ts"
import * as Generate from "./Generate.ts"

describe("UnifiedDiff", () => {
  const cases: ReadonlyArray<
    readonly [name: string, before: string, after: string, context: number, hunks: string]
  > = [
    ["nothing for equal texts", "a\n", "a\n", 3, ""],
    ["a text from nothing", "", "a\nb\n", 3, "@@ -0,0 +1,2 @@\n+a\n+b\n"],
    ["a text to nothing", "a\n", "", 3, "@@ -1 +0,0 @@\n-a\n"],
    [
      "nothing but a line end",
      "a",
      "a\n",
      1,
      "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
    ],
    [
      "a lost line end",
      "x\na\n",
      "x\na",
      1,
      "@@ -1,2 +1,2 @@\n x\n-a\n+a\n\\ No newline at end of file\n",
    ],
    ["an insertion without context", "a\nb\n", "a\nx\nb\n", 0, "@@ -1,0 +2 @@\n+x\n"],
    ["a deletion without context", "a\nx\nb\n", "a\nb\n", 0, "@@ -2 +1,0 @@\n-x\n"],
    ["line ends as they are", "a\r\nb\n", "a\nb\n", 1, "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"],
    [
      "changes far apart in hunks of their own",
      "1\n2\n3\n4\n5\n6\n",
      "one\n2\n3\n4\n5\nsix\n",
      1,
      "@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -5,2 +5,2 @@\n 5\n-6\n+six\n",
    ],
  ]
  for (const [name, before, after, context, hunks] of cases) {
    it(`shows ${name}`, () => assert.strictEqual(UnifiedDiff.hunks(before, after, context), hunks))
  }

  it("transforms any text into the other, also as one replacement", () => {
    for (let seed = 0; seed < 300; seed++) {
      const next = Generate.random(seed)
      const some = () => {
        const text = Generate.lines(next, 8).join("\n")
        return next(2) === 0 || text === "" ? text : `${text}\n`
      }
      const [before, after] = [some(), some()]
      if (before === after) continue
      for (const hunks of [
        UnifiedDiff.hunks(before, after, next(4)),
        UnifiedDiff.replaced(before, after),
      ]) {
        assert.strictEqual(applyPatch(before, `--- a\n+++ b\n${hunks}`), after, `seed ${seed}`)
      }
    }
  })

  it("looks for 800 changed lines and no more, however long the texts are", () => {
    const lines = (word: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join("")
    const change = (count: number) => {
      const common = lines("c", 20_000)
      return UnifiedDiff.hunks(common + lines("a", count), common + lines("b", count), 0)
    }
    assert.strictEqual(
      change(400),
      UnifiedDiff.replaced(lines("a", 400), lines("b", 400)).replace(
        /^.*/,
        "@@ -20001,400 +20001,400 @@",
      ),
    )
    assert.isUndefined(change(401))
    assert.isUndefined(UnifiedDiff.hunks(lines("a", 20_000), lines("b", 20_000), 3))
  })
})
