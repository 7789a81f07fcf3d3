import { assert, describe, it } from "@effect/vitest"
import { parse } from "../src/Arguments.ts"

const names = ["stdio", "memory"]

describe("the command line of the benchmarks", () => {
  it.each([
    [[], { _tag: "List" }],
    [["stdio"], { _tag: "Run", name: "stdio", quick: false }],
    [["stdio", "--quick"], { _tag: "Run", name: "stdio", quick: true }],
    [
      ["stdio", "--bin", "/x.mjs", "--quick"],
      { _tag: "Run", name: "stdio", quick: true, bin: "/x.mjs" },
    ],
    [["stdoi"], { _tag: "Unclear", message: "unknown benchmark `stdoi`, did you mean `stdio`?" }],
    [["everything"], { _tag: "Unclear", message: "unknown benchmark `everything`" }],
    [
      ["stdio", "--quik"],
      { _tag: "Unclear", message: "unknown option `--quik`, did you mean `--quick`?" },
    ],
    [
      ["stdio", "--runs", "9", "--peer", "a mcp", "--peer", "b", "--json", "/x.json", "--write"],
      {
        _tag: "Run",
        name: "stdio",
        quick: false,
        runs: 9,
        peers: ["a mcp", "b"],
        json: "/x.json",
        write: true,
      },
    ],
    [["stdio", "--runs", "0"], { _tag: "Unclear", message: "`--runs` needs a positive number" }],
    [["stdio", "--peer"], { _tag: "Unclear", message: "`--peer` needs a command line" }],
    [["stdio", "--bin"], { _tag: "Unclear", message: "`--bin` needs a path" }],
  ] as const)("%j", (words, expected) => {
    assert.deepStrictEqual<unknown>(parse(words, names), expected)
  })
})
