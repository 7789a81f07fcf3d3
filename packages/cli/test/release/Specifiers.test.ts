import { assert, describe, it } from "@effect/vitest"
import { specifiersOf, withSpecifiers } from "../../release/Specifiers.ts"

const module = [
  'import * as A from "a";',
  'import "./b.ts";',
  'export { c } from "./c.ts";',
  'export * from "./d.ts";',
  'const e = await import("./e.ts");',
  "const text = 'import \"./no.ts\"';",
].join("\n")

const declarations = [
  'import type { A } from "./a.ts";',
  'export declare const b: import("./b.ts").B<typeof import("./c.ts")>;',
  '/** import "./no.ts" */',
].join("\n")

describe("Specifiers", () => {
  it("finds imports, re-exports and dynamic imports, and reads no texts", () => {
    assert.deepStrictEqual(specifiersOf(module, "m.js"), [
      "a",
      "./b.ts",
      "./c.ts",
      "./d.ts",
      "./e.ts",
    ])
  })

  it("finds import types of declarations, and reads no comments", () => {
    assert.deepStrictEqual(specifiersOf(declarations, "m.d.ts"), ["./a.ts", "./b.ts", "./c.ts"])
  })

  it("replaces specifiers and nothing else", () => {
    const js = (specifier: string) => specifier.replace(/\.ts$/, ".js")
    assert.strictEqual(
      withSpecifiers(declarations, "m.d.ts", js),
      declarations.replaceAll(/(?<="\.\/[abc])\.ts/g, ".js"),
    )
  })
})
