import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as PatchText from "../../src/patch/PatchText.ts"
import * as UpdateText from "../../src/patch/UpdateText.ts"
import * as Generate from "./Generate.ts"

const applied = (content: string, ...lines: ReadonlyArray<string>): string => {
  const text = ["*** Begin Patch", "*** Update File: f", ...lines, "*** End Patch"].join("\n")
  const [hunk] = Result.getOrThrow(PatchText.parse(text))
  if (hunk?._tag !== "Update") throw new Error("no update")
  return Result.getOrElse(UpdateText.apply(content, hunk.chunks, "/f"), (message) => message)
}

const expectedLines = (...lines: ReadonlyArray<string>): string =>
  `Failed to find expected lines in /f:\n${lines.join("\n")}`

describe("UpdateText", () => {
  const cases: ReadonlyArray<
    readonly [name: string, before: string, lines: ReadonlyArray<string>, after: string]
  > = [
    ["matches exactly before it matches loosely", "a \na\n", ["@@", "-a", "+b"], "a \nb\n"],
    [
      "matches without trailing space before without leading",
      " a\na \n",
      ["@@", "-a", "+b"],
      " a\nb\n",
    ],
    ["matches trimmed before with folded signs", '“a”\n "a"\n', ["@@", '-"a"', "+b"], "“a”\nb\n"],
    [
      "folds dashes, quotes and spaces of Unicode",
      "\u2010\u2212\u2018\u201b\u201c\u201f\u2002\u3000x\n",
      ["@@", "---''\"\"  x", "+b"],
      "b\n",
    ],
    ["does not fold other signs", "a…\n", ["@@", "-a...", "+b"], expectedLines("a...")],
    ["searches forward only", "1\n2\n", ["@@", "-2", "@@", "-1"], expectedLines("1")],
    [
      "continues after what the last chunk replaced",
      "a\na\na\n",
      ["@@", "-a", "+1", "@@", "-a", "+2"],
      "1\n2\na\n",
    ],
    ["begins behind the context", "a\nf\na\n", ["@@ f", "-a", "+b"], "a\nf\nb\n"],
    ["finds a context loosely", "  f( )  \na\n", ["@@ f( )", "-a", "+b"], "  f( )  \nb\n"],
    [
      "finds no context before that position",
      "f\na\n",
      ["@@", "-a", "@@ f", "-b"],
      "Failed to find context 'f' in /f",
    ],
    ["adds at the end, whatever the context", "f\na\n", ["@@ f", "+b"], "f\na\nb\n"],
    ["keeps the order of what is added at the end", "a\n", ["@@", "+b", "@@", "+c"], "a\nb\nc\n"],
    ["adds before an empty last line", "a\n\n", ["@@", "+b"], "a\nb\n\n"],
    ["adds to an empty file", "", ["@@", "+b"], "b\n"],
    [
      "looks for the end of a file at the end alone",
      "a\nb\na\nb\n",
      ["@@", "-b", "+c", "*** End of File"],
      "a\nb\na\nc\n",
    ],
    [
      "does not look elsewhere for an end of file",
      "b\na\n",
      ["@@", "-b", "*** End of File"],
      expectedLines("b"),
    ],
    ["tries again without an empty last line", "a\nb\n", ["@@", " a", "-b", "+c", ""], "a\nc\n"],
    [
      "tries an end of file again without it",
      "b\na\nb\n",
      ["@@", "-b", "-", "+c", "*** End of File"],
      "b\na\nc\n",
    ],
    ["names all lines it did not find", "a\n", ["@@", " x", "-", ""], expectedLines("x", "", "")],
    ["leaves context lines as they are", "\tif (x)\n", ["@@", " if (x)", "+ y"], "\tif (x)\n y\n"],
    [
      "keeps the line ends of context lines",
      "one\r\ntwo\nthree\r\nfour\n",
      ["@@", " one", " two", "-three", "+THREE", " four"],
      "one\r\ntwo\nTHREE\r\nfour\n",
    ],
    [
      "keeps the line end of the line that stays",
      "same\r\nsame\n",
      ["@@", "-same", " same"],
      "same\n",
    ],
    [
      "gives new lines the first line end of the file",
      "a\r\nb\n",
      ["@@", "-b", "+c", "+d"],
      "a\r\nc\r\nd\r\n",
    ],
    ["ends a last line that had no end", "a\nb", ["@@", "-a", "+c"], "c\nb\n"],
    ["keeps an empty last line", "a\nb\n\n", ["@@", "-a", "+c"], "c\nb\n\n"],
    ["may leave an empty file", "a\n", ["@@", "-a"], ""],
    ["keeps a byte order mark", "\ufeffa\nb\n", ["@@", "-a", "+c"], "\ufeffc\nb\n"],
    [
      "keeps one byte order mark when the patch has it too",
      "\ufeffa\n",
      ["@@", "-\ufeffa", "+\ufeffc"],
      "\ufeffc\n",
    ],
    ["begins behind the line of the context", "f\na\nf\n", ["@@ f", "-f", "+x"], "f\na\nx\n"],
    [
      "finds no lines that begin before",
      "}\nx\n}\n",
      ["@@ }", "-}", "-x"],
      expectedLines("}", "x"),
    ],
    ["adds at the end before it replaces", "a\n", ["@@", "+b", "@@", "-a", "+c"], "c\nb\n"],
    [
      "lets an end of file lie over an earlier chunk",
      "a\nb\n",
      ["@@", "-a", "-b", "+x", "@@", "-b", "+y", "*** End of File"],
      "x\n",
    ],
  ]
  for (const [name, before, lines, after] of cases) {
    it(name, () => assert.strictEqual(applied(before, ...lines), after))
  }

  it("transforms any text into the text that its patch was created from", () => {
    for (let seed = 0; seed < 500; seed++) {
      const next = Generate.random(seed)
      const before = ["start", ...Generate.lines(next, 12), "end"]
      const { after, chunk } = Generate.rewrite(next, before)
      const lineEnd = next(2) === 0 ? "\n" : "\r\n"
      const join = (lines: ReadonlyArray<string>) => lines.map((l) => `${l}${lineEnd}`).join("")
      const result = UpdateText.apply(join(before), [chunk], "/f")
      assert.deepStrictEqual(result, Result.succeed(join(after)), `seed ${seed}`)
    }
  })

  it("finds 10,000 chunks in a file of 100,000 lines with a few looks at each line", () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => (i % 3 === 0 ? "  }" : `  line ${i}`))
    // Each chunk matches only in the last pass, and its first line occurs everywhere in the file.
    const chunks = Array.from({ length: 10_000 }, (_, i) =>
      Generate.chunkOf(
        [
          { sign: " ", text: "}" },
          { sign: "-", text: `line ${i * 9 + 1}` },
          { sign: "+", text: `new ${i}` },
        ],
        undefined,
        false,
      ),
    )
    const result = Result.getOrThrow(UpdateText.apply(`${lines.join("\n")}\n`, chunks, "/f"))
    const expected = lines.map((l, i) => (i % 9 === 1 && i < 90_000 ? `new ${(i - 1) / 9}` : l))
    assert.strictEqual(result, `${expected.join("\n")}\n`)
  }, 2_000)
})
