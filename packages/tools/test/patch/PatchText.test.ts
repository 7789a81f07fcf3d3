import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as PatchText from "../../src/patch/PatchText.ts"
import * as Generate from "./Generate.ts"

const patch = (...lines: ReadonlyArray<string>): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")

const parsed = (text: string) => Result.getOrThrow(PatchText.parse(text))

const faultOf = (text: string): string =>
  Result.match(PatchText.parse(text), {
    onSuccess: (hunks) => `no fault: ${JSON.stringify(hunks)}`,
    onFailure: (error) => error.message,
  })

const update = (...chunks: ReadonlyArray<PatchText.Chunk>): ReadonlyArray<PatchText.Hunk> => [
  { _tag: "Update", path: "a", movePath: undefined, chunks },
]
const chunk = (rows: string, context?: string, isEndOfFile = false): PatchText.Chunk =>
  Generate.chunkOf(
    rows.split("|").map((row) => ({ sign: row[0] ?? " ", text: row.slice(1) })),
    context,
    isEndOfFile,
  )

const noHeader = (line: string): string =>
  `'${line}' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'`
const unexpected = (line: string): string =>
  `Unexpected line found in update hunk: '${line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`
const first = "invalid patch: The first line of the patch must be '*** Begin Patch'"
const last = "invalid patch: The last line of the patch must be '*** End Patch'"

describe("PatchText: valid patches", () => {
  const cases: ReadonlyArray<
    readonly [name: string, text: string, hunks: ReadonlyArray<PatchText.Hunk>]
  > = [
    ["a patch without hunks", patch(), []],
    ["space around the markers", "\n  *** Begin Patch  \n\t*** End Patch\t\n\n", []],
    ...["<<EOF", "<<'EOF'", '<<"EOF"'].map(
      (word) => [`a heredoc ${word}`, `${word}\n${patch()}\nEOF\n`, []] as const,
    ),
    ["a heredoc with a last line that ends in EOF", `<<EOF\n${patch()}\n) EOF`, []],
    ["padded headers", patch("  *** Delete File: a  "), [{ _tag: "Delete", path: "a" }]],
    [
      "an added file up to the first line that is none of it",
      patch("*** Add File: a b", "+x", "+", "++y", "*** Delete File: c"),
      [
        { _tag: "Add", path: "a b", content: "x\n\n+y\n" },
        { _tag: "Delete", path: "c" },
      ],
    ],
    [
      "a move, its path as written",
      patch("*** Update File: a", "*** Move to: b ", "@@", "-x"),
      [{ _tag: "Update", path: "a", movePath: "b ", chunks: [chunk("-x")] }],
    ],
    ["a first chunk without @@", patch("*** Update File: a", "-x", "+y"), update(chunk("-x|+y"))],
    ["context verbatim", patch("*** Update File: a", "@@  f( ", "-x"), update(chunk("-x", " f( "))],
    ["@@ and a space as @@", patch("*** Update File: a", "@@ ", "-x"), update(chunk("-x"))],
    [
      "blank lines before chunks and behind the end of a file",
      patch("*** Update File: a", "", "\t", "@@", "-x", "*** End of File", "", "@@", "-y"),
      update(chunk("-x", undefined, true), chunk("-y")),
    ],
    [
      "an empty line in a chunk as an empty context line",
      patch("*** Update File: a", "@@", "-x", "", "+y", "", "@@", "-z"),
      update(chunk("-x| |+y| "), chunk("-z")),
    ],
    [
      "an indented header in a chunk as a context line",
      patch("*** Update File: a", "@@", "-x", " *** Delete File: b"),
      update(chunk("-x| *** Delete File: b")),
    ],
    [
      "lines that end in CR LF",
      patch("*** Update File: a", "*** Move to: b", "@@ c", "-x", "*** End of File").replaceAll(
        "\n",
        "\r\n",
      ),
      [{ _tag: "Update", path: "a", movePath: "b", chunks: [chunk("-x", "c", true)] }],
    ],
    [
      "an environment before the first hunk",
      patch(" *** Environment ID: e ", "*** Delete File: a"),
      [{ _tag: "Delete", path: "a" }],
    ],
  ]
  for (const [name, text, hunks] of cases) {
    it(name, () => assert.deepStrictEqual(parsed(text), hunks))
  }

  it("parses everything that it prints, for any hunks", () => {
    for (let seed = 0; seed < 300; seed++) {
      const next = Generate.random(seed)
      const hunks = Array.from({ length: next(4) }, (_, i): PatchText.Hunk => {
        const path = `dir ${i}/f.txt`
        if (next(3) === 0) return { _tag: "Delete", path }
        if (next(3) === 0) {
          return {
            _tag: "Add",
            path,
            content: Generate.lines(next, 4)
              .map((line) => `${line}\n`)
              .join(""),
          }
        }
        const chunks = Array.from({ length: 1 + next(3) }, () => {
          const { chunk } = Generate.rewrite(next, ["start", ...Generate.lines(next, 5)])
          return {
            ...chunk,
            context: next(2) === 0 ? "f()" : undefined,
            isEndOfFile: next(3) === 0,
          }
        })
        return { _tag: "Update", path, movePath: next(3) === 0 ? "to" : undefined, chunks }
      })
      assert.deepStrictEqual(parsed(Generate.print(hunks)), hunks, `seed ${seed}`)
    }
  })
})

describe("PatchText: errors, by line", () => {
  const cases: ReadonlyArray<readonly [name: string, text: string, message: string]> = [
    ["nothing", "", first],
    ["no Begin", "x\n*** End Patch", first],
    ["text before Begin", `x\n${patch()}`, first],
    ["no End", "*** Begin Patch\nx", last],
    ["Begin alone", "*** Begin Patch", last],
    ["text after End", `${patch()}\nx`, last],
    ["End twice", patch("*** End Patch"), last],
    ["markers in another case", "*** begin patch\n*** End Patch", first],
    ["a heredoc of another word", `<<PATCH\n${patch()}\nPATCH`, first],
    ["a heredoc without End", "<<EOF\n*** Begin Patch\nx\nEOF", last],
    ["an unknown header", patch("*** Foo: a"), `invalid hunk at line 2, ${noHeader("*** Foo: a")}`],
    [
      "a header without path",
      patch("*** Add File: "),
      `invalid hunk at line 2, ${noHeader("*** Add File:")}`,
    ],
    [
      "a blank line between hunks",
      patch("*** Delete File: a", "", "*** Delete File: b"),
      `invalid hunk at line 3, ${noHeader("")}`,
    ],
    [
      "a move elsewhere",
      patch("*** Delete File: a", "*** Move to: b"),
      `invalid hunk at line 3, ${noHeader("*** Move to: b")}`,
    ],
    [
      "an update without chunks",
      patch("*** Delete File: b", "*** Update File: a"),
      "invalid hunk at line 3, Update file hunk for path 'a' is empty",
    ],
    [
      "an update with a move alone",
      patch("*** Update File: a", "*** Move to: b"),
      "invalid hunk at line 2, Update file hunk for path 'a' is empty",
    ],
    [
      "an end of file as first line",
      patch("*** Update File: a", "*** End of File"),
      "invalid hunk at line 2, Update file hunk for path 'a' is empty",
    ],
    [
      "a chunk without lines",
      patch("*** Update File: a", "@@"),
      "invalid hunk at line 4, Update hunk does not contain any lines",
    ],
    [
      "a chunk of an end of file",
      patch("*** Update File: a", "@@", "*** End of File"),
      "invalid hunk at line 4, Update hunk does not contain any lines",
    ],
    [
      "a second @@ directly behind the first",
      patch("*** Update File: a", "@@ f", "@@ g", "-x"),
      `invalid hunk at line 4, ${unexpected("@@ g")}`,
    ],
    [
      "a header behind @@",
      patch("*** Update File: a", "@@", "*** Delete File: b"),
      `invalid hunk at line 4, ${unexpected("*** Delete File: b")}`,
    ],
    [
      "a line without sign",
      patch("*** Update File: a", "@@", "x"),
      `invalid hunk at line 4, ${unexpected("x")}`,
    ],
    [
      "a line without sign behind others",
      patch("*** Update File: a", "@@", "-x", "y"),
      "invalid hunk at line 5, Expected update hunk to start with a @@ context marker, got: 'y'",
    ],
    [
      "a chunk without @@ behind an end of file",
      patch("*** Update File: a", "@@", "-x", "*** End of File", "-y"),
      "invalid hunk at line 6, Expected update hunk to start with a @@ context marker, got: '-y'",
    ],
    [
      "an end of file behind a blank line",
      patch("*** Update File: a", "@@", "-x", "\t", "*** End of File"),
      `invalid hunk at line 6, ${noHeader("*** End of File")}`,
    ],
    [
      "an environment without name",
      patch("*** Environment ID:  "),
      "invalid patch: apply_patch environment_id cannot be empty",
    ],
    [
      "two environments",
      patch("*** Environment ID: a", "*** Environment ID: b"),
      "invalid patch: apply_patch environment_id cannot be specified more than once",
    ],
  ]
  for (const [name, text, message] of cases) {
    it(name, () => assert.strictEqual(faultOf(text), message))
  }

  it("are the same in the original's program", () => {
    const standalone = (text: string) =>
      Result.getOrThrow(Result.flip(PatchText.parse(text))).standalone
    assert.strictEqual(
      standalone(""),
      "Invalid patch: The first line of the patch must be '*** Begin Patch'",
    )
    assert.strictEqual(standalone(patch("x")), `Invalid patch hunk on line 2: ${noHeader("x")}`)
  })
})
