import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { read } from "./SourceTree.ts"
import { declarationsOf } from "./structure/Declarations.ts"
import { circlesOf, outsideReference, privateWord, structureOf } from "./structure/Structure.ts"

const structure = structureOf(read(Fs))

/** Folders with one module per method, per row of a table, or per case, which are looked up by name. */
const listings = [
  "packages/server/src/app/methods",
  "packages/server/src/mcp/methods",
  "packages/server/src/thread/host/methods",
  "packages/server/src/thread/methods",
]

describe("Structure", () => {
  it("no folder holds more than 22 modules, but those with one module per method", () => {
    assert.isAbove(structure.modules, 500)
    assert.deepStrictEqual(
      structure.folders.filter(([folder, n]) => n > 22 && !listings.includes(folder)),
      [],
    )
  })

  it("no definition has more than 80 lines, and at most 15 have more than 40", () => {
    assert.deepStrictEqual(
      structure.long.filter(([, lines]) => lines > 80),
      [],
    )
    assert.isAtMost(structure.long.length, 15, structure.long.join("\n"))
  })

  it("no modules import each other, not even their types", () => {
    assert.deepStrictEqual(structure.circles, [])
  })

  it("no module holds state of the process, and every service that is read is visible in a type", () => {
    assert.deepStrictEqual(structure.mutable, [])
    assert.deepStrictEqual(structure.optionalServices, [])
  })

  it("every exported declaration has a docstring", () => {
    assert.isAbove(structure.exported, 1000)
    assert.deepStrictEqual(structure.undocumented, [])
  })

  it("no comment, test or page refers to a document outside the repository", () => {
    assert.deepStrictEqual(structure.references, [])
    const root = `${import.meta.dirname}/../../..`
    const others = Fs.globSync(
      ["README.md", ".github/*.md", "packages/*/{test,compat,fuzz}/**/*.ts", "packages/**/*.md"],
      { cwd: root, exclude: (path) => path.includes("node_modules") || path.includes("fixtures") },
    ).filter((path) => !/test\/(?:Structure\.live\.test|structure\/Structure)\.ts$/.test(path))
    assert.isAbove(others.length, 400)
    assert.deepStrictEqual(
      others.flatMap((path) =>
        Fs.readFileSync(`${root}/${path}`, "utf8")
          .split("\n")
          .flatMap((line, at) =>
            outsideReference.test(line) ? [`${path}:${at + 1}: ${line}`] : [],
          ),
      ),
      [],
    )
  })

  it("every page of the wire facts that is cited exists", () => {
    const root = `${import.meta.dirname}/../../..`
    const cited = read(Fs).modules.flatMap(({ file, source }) =>
      [...source.matchAll(/packages\/docs\/([\w./-]+\.md)/g)].map((match) => [
        file,
        match[1] ?? "",
      ]),
    )
    assert.deepStrictEqual(
      cited.filter(([, page]) => !Fs.existsSync(`${root}/packages/docs/${page}`)),
      [],
    )
  })

  it("the words that the glossary replaces stay rare", () => {
    assert.isBelow(structure.words.length, 60, structure.words.join("\n"))
  })

  it("reads definitions, docstrings and state from a module", () => {
    const { definitions, exported, mutable, undocumented } = declarationsOf(
      [
        "/** What it holds. */",
        "export const table = [",
        "  1,",
        "]",
        "export const add = (a: number) => a + 1",
        "let count = 0",
        "const cache = new WeakMap<object, number>()",
        "const names = new Set(['a'])",
        "/** A class. */",
        "export class A {",
        "  private readonly seen = new Map()",
        "  run() {",
        "    return 1",
        "  }",
        "}",
      ].join("\n"),
    )
    assert.deepStrictEqual(
      definitions.map(({ isCode, lines, name }) => [name, lines, isCode]),
      [
        ["table", 3, false],
        ["add", 1, true],
        ["count", 1, false],
        ["cache", 1, false],
        ["names", 1, false],
        ["A.seen", 1, false],
        ["A.run", 3, true],
      ],
    )
    assert.deepStrictEqual([exported, undocumented, mutable], [3, ["add"], ["count", "cache"]])
  })

  it("finds cycles of any length, and none in a chain", () => {
    const graph = (edges: Readonly<Record<string, ReadonlyArray<string>>>) =>
      circlesOf(new Map(Object.entries(edges)))
    assert.deepStrictEqual(graph({ a: ["b"], b: ["c"], c: [] }), [])
    assert.deepStrictEqual(graph({ a: ["b"], b: ["c"], c: ["a"], d: ["a", "e"], e: ["d"] }), [
      ["a", "b", "c"],
      ["d", "e"],
    ])
  })

  it.each([
    ["as §7.4 says", true],
    ["see design §4", true],
    ["effect4-notes has it", true],
    ["asked for in R12.", true],
    ["mcp-complaints row 6", true],
    ["L7 holds; see packages/docs/wire/config.md", false],
    ["RFC 8259", false],
  ])("a reference to a document that is not here: %s", (text, isOutside) => {
    assert.strictEqual(outsideReference.test(text), isOutside)
  })

  it("finds the words as words", () => {
    assert.lengthOf([..."Nobody is told; untold".matchAll(privateWord)], 2)
  })
})
