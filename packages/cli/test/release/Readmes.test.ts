import { assert, describe, it } from "@effect/vitest"
import { libraryManifest } from "../../release/Manifests.ts"
import { readme, summaryOf, withAbsoluteLinks } from "../../release/Readmes.ts"

describe("summaryOf", () => {
  const rows: ReadonlyArray<readonly [source: string, summary: string]> = [
    ["/** One thing. Another. */", "One thing."],
    ["/**\n * One thing,\n * on two lines.\n */", "One thing, on two lines."],
    ["/** Port. Keeps ids. */", "Keeps ids."],
    ["/** A list: with more. */", "A list."],
    ["/** In `a.b` there is a|b. */", "In `a.b` there is a\\|b."],
    ["const a = 1", ""],
  ]
  for (const [source, summary] of rows) {
    it(`of ${JSON.stringify(source)}`, () => {
      assert.strictEqual(summaryOf(source), summary)
    })
  }
})

describe("readme", () => {
  it("says what the package is, how to install it and what its modules are", () => {
    const manifest = libraryManifest(
      {
        name: "@colloquy/core",
        version: "1.2.3",
        description: "Conversations.",
        dependencies: { effect: "4.1.0" },
      },
      "core",
      {},
    )
    const text = readme(manifest, [{ subpath: "/A", source: "/** An A. */" }])
    assert.include(text, "# @colloquy/core\n\nConversations.\n")
    assert.include(text, "npm install @colloquy/core effect@~4.1.0")
    assert.include(text, "| `@colloquy/core/A` | An A. |")
  })
})

describe("withAbsoluteLinks", () => {
  const rows: ReadonlyArray<readonly [markdown: string, expected: RegExp]> = [
    ["[a](packages/docs/a.md#b)", /^\[a\]\(https:\/\/.*\/blob\/main\/packages\/docs\/a\.md#b\)$/],
    ["![a](packages/a.svg)", /^!\[a\]\(https:\/\/.*\/raw\/main\/packages\/a\.svg\)$/],
    ['<img src="a.svg">', /^<img src="https:\/\/.*\/raw\/main\/a\.svg">$/],
    ["[a](https://a.b/c) [d](#e)", /^\[a\]\(https:\/\/a\.b\/c\) \[d\]\(#e\)$/],
  ]
  for (const [markdown, expected] of rows) {
    it(`of ${markdown}`, () => {
      assert.match(withAbsoluteLinks(markdown), expected)
    })
  }
})
