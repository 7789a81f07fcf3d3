import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { expand, parse } from "../../src/features/PromptText.ts"

const read = (text: string) => Result.getOrThrow(parse(text))

describe("PromptText", () => {
  it("a text without front matter is the prompt, as it is", () => {
    assert.deepStrictEqual(read("Review the code.\n"), {
      body: "Review the code.\n",
      arguments: [],
    })
    assert.deepStrictEqual(read("--- not\n---\n"), { body: "--- not\n---\n", arguments: [] })
  })

  it("reads the front matter, in any order, with any line ends, quoted or not", () => {
    const expected = {
      description: "Reviews: a file",
      body: "Look at $1, $2 and $3.",
      arguments: [
        { name: "1", description: "[file]", required: false },
        { name: "2", description: "[how many]", required: false },
        { name: "3", required: false },
      ],
    }
    const lines = [
      "---",
      "argument-hint: [file] [how many]",
      'description: "Reviews: a file"',
      "other: 1",
      "not a pair",
      "---",
      "Look at $1, $2 and $3.",
    ]
    assert.deepStrictEqual(read(lines.join("\n")), expected)
    assert.deepStrictEqual(read(`\uFEFF${lines.join("\r\n")}`), expected)
  })

  it("finds each argument once: numbered ones first, then all of them, then the named ones", () => {
    const body = "$NAME $2 $$3 $ARGUMENTS $NAME $FILE_2 $1 $10 $lower $ $ARGUMENTSX $$HOME"
    assert.deepStrictEqual(read(`---\nargument-hint: words\n---\n${body}`).arguments, [
      { name: "1", description: "words", required: false },
      { name: "2", required: false },
      { name: "ARGUMENTS", description: "words", required: false },
      { name: "NAME", required: true },
      { name: "FILE_2", required: true },
      { name: "ARGUMENTSX", required: true },
    ])
  })

  it.each<readonly [text: string, problem: string]>([
    ["", "the file is empty"],
    ["---\ndescription: x\n---\n \n", "the file is empty"],
    ["---\ndescription: x\n", "the front matter in line 1 is not closed"],
    ["a\0b", "the file is not text"],
    [Array.from({ length: 33 }, (_, i) => `$N${i}`).join(" "), "more than 32 arguments"],
  ])("reports what is wrong with a file, %#", (text, problem) => {
    assert.deepStrictEqual(parse(text), Result.fail(problem))
  })

  it.each<readonly [body: string, args: Record<string, string>, text: string]>([
    ["$1 and $2", { "1": "a", "2": "b" }, "a and b"],
    ["$1 and $2.", { "1": "a" }, "a and ."],
    ["$1, $2, $3", { ARGUMENTS: "a  b" }, "a, b, "],
    ["$1: $ARGUMENTS", { "1": "a", "2": "b" }, "a: a b"],
    ["$ARGUMENTS", { ARGUMENTS: "as  it is" }, "as  it is"],
    ["$NAME costs $$5", { NAME: "$1 $NAME" }, "$1 $NAME costs $5"],
    ["$10 $x $", {}, "$10 $x $"],
    ["$1", { "1": "$&" }, "$&"],
  ])("inserts arguments at their places, and nothing else, %#", (body, args, text) => {
    assert.strictEqual(expand(body, args), text)
  })
})
