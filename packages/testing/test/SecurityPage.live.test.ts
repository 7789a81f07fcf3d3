/** Every claim of the security page names a test that exists. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as PageClaims from "./support/PageClaims.ts"

const claims = PageClaims.over(Fs)
const page = claims.read("packages/docs/security.md")

describe("the security page", () => {
  it("names test files that exist", () => {
    const { count, missing } = claims.files(page)
    assert.isAbove(count, 40)
    assert.deepStrictEqual(missing, [])
  })

  it("names titles of tests that exist", () => {
    // The titles that begin with the number of a law.
    const { count, missing } = claims.titles(page, /"(L\d+ [^"]+)"/g)
    assert.isAbove(count, 60)
    assert.deepStrictEqual(missing, [])
  })

  it("names titles of tests of the port that exist, word for word", () => {
    const port = PageClaims.sections(page).find(({ heading }) => heading === "The port of a server")
    const { count, missing } = claims.wholeTitles(
      (port?.text ?? "").replaceAll(/`[^`]*`/g, ""),
      /"([^"]+)"/g,
    )
    assert.isAbove(count, 25)
    assert.deepStrictEqual(missing, [])
  })

  it("has a section for each part that a reader looks for, and none is empty", () => {
    const sections = PageClaims.sections(page)
    assert.isAbove(sections.length, 12)
    // A heading may be followed by its parts at once.
    assert.deepStrictEqual(
      sections.filter(({ text }) => text === "").map(({ heading }) => heading),
      ["Input from clients, providers, tool servers and files"],
    )
  })
})
