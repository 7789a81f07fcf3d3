import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { packagesPicture } from "../support/pictures/Rooms.ts"
import { turnPicture } from "../support/pictures/Turn.ts"

const root = new URL("../../../../", import.meta.url)

describe.each([
  ["packages", packagesPicture()],
  ["turn", turnPicture()],
])("the picture %s", (name, text) => {
  it("is as `npm run docs` writes it", () => {
    const file = new URL(`packages/docs/pictures/${name}.svg`, root)
    assert.strictEqual(readFileSync(file, "utf8"), text)
  })

  it("loads and runs nothing", () => {
    assert.notMatch(text, /<script|href=|url\((?!#)|@import|\son[a-z]+="/i)
  })
})

describe("the picture of the packages", () => {
  it("has every package that another one may import, and the programs", () => {
    const folders = readdirSync(new URL("packages/", root)).filter((name) => name !== "docs")
    const names = Array.from(
      packagesPicture().matchAll(/class="name"[^>]*>([^<]+)</g),
      ([, text = ""]) => text.split("  ·  "),
    ).flat()
    assert.deepStrictEqual(names.toSorted(), folders.toSorted())
  })
})
