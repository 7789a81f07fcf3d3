import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pages } from "../../site/Pages.ts"

const root = join(import.meta.dirname, "../../../..")
const sources = pages.map(({ source }) => source)
const [, list = ""] = readFileSync(join(root, "README.md"), "utf8").split("\n## Pages\n")
const linked = Array.from(
  (list.split("\n## ")[0] ?? "").matchAll(/\]\(([^)]+)\)/g),
  ([, path = ""]) => path,
)

describe("the menu of the site", () => {
  it("has every page of the documentation once", () => {
    const docs = readdirSync(join(root, "packages/docs"), { recursive: true, encoding: "utf8" })
    for (const name of docs) {
      if (name.endsWith(".md")) assert.include(sources, `packages/docs/${name}`)
    }
    assert.strictEqual(new Set(sources).size, sources.length)
    assert.strictEqual(new Set(pages.map(({ place }) => place)).size, sources.length)
  })

  it("is in the order of the pages on the README", () => {
    assert.deepStrictEqual(
      linked,
      sources.filter((source) => linked.includes(source)),
    )
  })

  it("the README lists every page but itself, changes and single wire facts", () => {
    const unlisted = sources.filter((source) => !linked.includes(source))
    assert.deepStrictEqual(
      unlisted.filter((source) => !source.startsWith("packages/docs/wire/")),
      ["README.md", ".github/SECURITY.md", "packages/docs/CHANGELOG.md"],
    )
  })
})
