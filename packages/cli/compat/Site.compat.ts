/** The static site of the pages: everything that a browser loads is in it, and every link within it leads somewhere. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { pages } from "../site/Pages.ts"
import { buildSite } from "../site/Site.ts"

const maxMs = 300_000
const folder = mkdtempSync(join(tmpdir(), "colloquy-site-"))
const dist = join(folder, "dist")

beforeAll(() => buildSite(folder), maxMs)
afterAll(() => rm(folder, { recursive: true, force: true }), maxMs)

const files = (ending: string): ReadonlyArray<string> =>
  readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(ending))

const read = (name: string): string => readFileSync(join(dist, name), "utf8")

/** What a browser loads by itself: sources, style sheets, fonts, images. */
const loaded = /(?:\bsrc="|<link[^>]+href="|url\(["']?|@import ["'])([^"')]+)/g

const targetsIn = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(([, target = ""]) => target)

describe("the site", () => {
  it("has every page of the menu, and every page of the documentation is in the menu", () => {
    for (const { place } of pages) assert.isTrue(existsSync(join(dist, `${place}.html`)), place)
    const docs = join(import.meta.dirname, "../../docs")
    const sources = new Set(pages.map(({ source }) => source))
    for (const name of readdirSync(docs, { recursive: true, encoding: "utf8" })) {
      if (name.endsWith(".md")) assert.isTrue(sources.has(`packages/docs/${name}`), name)
    }
  })

  it("loads nothing from elsewhere", () => {
    const elsewhere = [...files(".html"), ...files(".css")].flatMap((name) =>
      targetsIn(read(name), loaded).filter((target) => /^(?:[a-z]+:)?\/\//i.test(target)),
    )
    assert.deepStrictEqual(elsewhere, [])
  })

  it("contains what its pages load and link to, with the headings", () => {
    const broken = files(".html").flatMap((name) => {
      const text = read(name)
      return [...targetsIn(text, loaded), ...targetsIn(text, /<a[^>]+href="([^"]+)"/g)]
        .filter((target) => target.startsWith("/") || target.startsWith("#"))
        .filter((target) => {
          const [path = "", anchor] = target.split("#")
          const file = path === "" ? name : path === "/" ? "index.html" : path.slice(1)
          const found = [file, `${file}.html`].find((one) => existsSync(join(dist, one)))
          if (found === undefined) return true
          return (
            anchor !== undefined &&
            anchor !== "" &&
            !read(found).includes(`id="${decodeURIComponent(anchor)}"`)
          )
        })
        .map((target) => `${name}: ${target}`)
    })
    assert.deepStrictEqual(broken, [])
  })

  it("has an index for the search", () => {
    const [index = ""] = files(".js").filter((name) => name.includes("localSearchIndex"))
    assert.include(read(index), "approv")
  })
})
