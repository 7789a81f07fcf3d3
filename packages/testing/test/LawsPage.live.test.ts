/** The page on the laws names modules and tests that exist, and each of its tests proves the law it is named for. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.resolve(import.meta.dirname, "../../..")
const sections = Fs.readFileSync(Path.join(root, "packages/docs/laws.md"), "utf8")
  .split(/^## /m)
  .slice(1)

const pathsIn = (section: string): ReadonlyArray<string> =>
  Array.from(section.matchAll(/`(packages\/[\w./-]+)`/g), ([, path = ""]) => path)

describe("the page on the laws", () => {
  it("has the sixteen laws in order", () => {
    assert.deepStrictEqual(
      sections.map((section) => section.split(".")[0]),
      Array.from({ length: 16 }, (_, index) => `L${index + 1}`),
    )
  })

  it.each(sections.map((section) => [section.split("\n")[0] ?? "", section] as const))(
    "%s names modules that exist and tests of that law",
    (title, section) => {
      const law = title.split(".")[0] ?? ""
      const paths = pathsIn(section)
      assert.isAbove(paths.filter((path) => path.endsWith(".test.ts")).length, 2, law)
      for (const path of paths) {
        assert.isTrue(Fs.existsSync(Path.join(root, path)), path)
        if (!path.endsWith(".test.ts") || path.includes("Boundaries")) continue
        assert.match(Fs.readFileSync(Path.join(root, path), "utf8"), new RegExp(`\\b${law}\\b`))
      }
    },
  )
})
