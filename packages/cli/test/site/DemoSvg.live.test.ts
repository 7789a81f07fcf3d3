import { assert, describe, it } from "@effect/vitest"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { demoSvg } from "../../site/DemoSvg.ts"

const path = join(import.meta.dirname, "../../../docs/demo.svg")
const picture = readFileSync(path, "utf8")

describe("demoSvg", () => {
  const svg = demoSvg(
    [
      { atMs: 0, text: "› <hello> & good bye" },
      { atMs: 10, text: "" },
      { atMs: 90_000, text: "word ".repeat(30).trim() },
    ],
    "a <title>",
  )

  it("shows what was printed, escaped and wrapped, in colours of its kind", () => {
    assert.include(svg, "<title>a &lt;title&gt;</title>")
    assert.include(svg, 'fill="#ffffff" style="animation-name:l0">› &lt;hello&gt; &amp; good bye<')
    assert.strictEqual(svg.split("<text ").length - 1, 3)
  })

  it("waits no longer than can be borne for a line that came late", () => {
    assert.include(svg, "animation-duration:7.72s")
  })
})

describe("the picture of the demo", () => {
  it("is the whole demo, at most 60 KB, and loads and runs nothing", () => {
    assert.isBelow(statSync(path).size, 60_000)
    assert.include(picture, "Colloquy")
    assert.include(picture, "All turns completed.")
    assert.notMatch(picture, /<script|href=|url\(|@import|on[a-z]+="/i)
  })
})
