/** Every claim of the security page names a test that exists. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.resolve(import.meta.dirname, "../../..")
const page = Fs.readFileSync(Path.join(root, "packages/docs/security.md"), "utf8")

const tests = Fs.globSync("packages/*/{test,compat}/**/*.{test,compat}.ts", { cwd: root })
const sources = tests.map((path) => Fs.readFileSync(Path.join(root, path), "utf8")).join("\n")

/** The quoted titles that begin with the number of a law. */
const titles = Array.from(page.matchAll(/"(L\d+ [^"]+)"/g), ([, title = ""]) => title)

/** A title may be composed in its test, so that not all of its words are there together: some three in a row are. */
const isInSources = (title: string): boolean => {
  const words = title.split(" ").slice(1)
  if (words.length < 3) return sources.includes(title.replace(/\W+$/, ""))
  return words.some(
    (_, at) => at + 2 < words.length && sources.includes(words.slice(at, at + 3).join(" ")),
  )
}

describe("the security page", () => {
  it("names test files that exist", () => {
    const named = Array.from(
      page.matchAll(/`([\w./-]+\.(?:test|compat)\.ts)`/g),
      ([, path = ""]) => path,
    )
    assert.isAbove(named.length, 40)
    const missing = named.filter((path) => !tests.some((test) => test.endsWith(path)))
    assert.deepStrictEqual(missing, [])
  })

  it("names titles of tests that exist", () => {
    assert.isAbove(titles.length, 60)
    assert.deepStrictEqual(
      titles.filter((title) => !isInSources(title)),
      [],
    )
  })

  it("has a section for each part that a reader looks for, and none is empty", () => {
    const sections = page.split(/^#{2,3} /m).slice(1)
    assert.isAbove(sections.length, 12)
    const empty = sections.filter((section) => section.split("\n").slice(1).join("").trim() === "")
    // A heading may be followed by its parts at once.
    assert.deepStrictEqual(
      empty.map((section) => section.trim()),
      ["Input from clients, providers, tool servers and files"],
    )
  })
})
