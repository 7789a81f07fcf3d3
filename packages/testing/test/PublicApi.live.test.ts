import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { exportedValues, type Package, read } from "./SourceTree.ts"

const { modules, packages } = read(Fs)

const fixture = Path.join(import.meta.dirname, "fixtures/public-api.json")

type Api = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>>

/** The subpath under which others import a module: an exact key first, then the longest pattern, as Node does it. */
const subpathOf = (exports: Package["exports"], path: string): string | undefined => {
  const file = `./${path}`
  const exact = Object.keys(exports).find((key) => exports[key] === file)
  if (exact !== undefined) return exact
  for (const [key, target] of Object.entries(exports)) {
    const [before, after] = target?.split("*") ?? []
    if (before === undefined || after === undefined) continue
    if (!file.startsWith(before) || !file.endsWith(after)) continue
    const subpath = key.replace("*", file.slice(before.length, file.length - after.length))
    const closed = Object.keys(exports).some(
      (other) => exports[other] === null && subpath.startsWith(other.replace("*", "")),
    )
    return closed ? undefined : subpath
  }
  return undefined
}

const api = (): Api =>
  Object.fromEntries(
    packages
      .filter((p) => !p.private)
      .map(({ room, name, exports }) => [
        name,
        Object.fromEntries(
          modules
            .filter((module) => module.room === room && !module.path.startsWith("src/internal/"))
            .flatMap(({ path, source }) => {
              const subpath = subpathOf(exports, path)
              return subpath === undefined ? [] : [[subpath, exportedValues(source)] as const]
            }),
        ),
      ]),
  )

describe("PublicApi", () => {
  it("the values every published package exports are the checked-in ones (UPDATE_PUBLIC_API=1 rewrites the list)", () => {
    const actual = api()
    if (process.env["UPDATE_PUBLIC_API"] === "1") {
      Fs.writeFileSync(fixture, `${JSON.stringify(actual, null, 2)}\n`)
    }
    const expected: Api = JSON.parse(Fs.readFileSync(fixture, "utf8"))
    assert.deepStrictEqual(actual, expected)
  })

  it("reads values and leaves types, comments and strings out", () => {
    const source = [
      `export const b = 1`,
      `export class A {}`,
      `export function* g() {}`,
      `export type T = string`,
      `export interface I {}`,
      `export * as N from "./N.ts"`,
      `export * from "./M.ts"`,
      `export {\n  x,\n  type Y,\n  y as z,\n} from "./X.ts"`,
      `// export const c = 1`,
      `/*`,
      `export const d = 1`,
      `*/`,
    ].join("\n")
    assert.deepStrictEqual(exportedValues(source), ["* from ./M.ts", "A", "N", "b", "g", "x", "z"])
    assert.throws(() => exportedValues(`export enum E {}`), /cannot read/)
  })

  it("finds the subpath of a module, and none for a closed folder", () => {
    const exports = { "./*": "./src/*.ts", "./internal/*": null, "./Main": "./src/cli/Entry.ts" }
    assert.deepStrictEqual(
      ["src/A.ts", "src/mcp/B.ts", "src/internal/C.ts", "src/cli/Entry.ts", "test/D.ts"].map(
        (path) => subpathOf(exports, path),
      ),
      ["./A", "./mcp/B", undefined, "./Main", undefined],
    )
  })
})
