import { assert, describe, it } from "@effect/vitest"
import { withSiteLinks } from "../../site/Links.ts"

const linked = (text: string, source = "packages/docs/http.md") =>
  withSiteLinks(text, source, (path) => `/public/${path}`, "https://example.org")

describe("withSiteLinks", () => {
  it.each([
    ["[laws](laws.md#l5)", "[laws](/laws#l5)"],
    ["[`wire`](wire/README.md)", "[`wire`](/wire/index)"],
    ["[start](../../README.md)", "[start](/)"],
    [
      "[source](../core/src/Quota.ts)",
      "[source](https://example.org/blob/main/packages/core/src/Quota.ts)",
    ],
    ["![chart](benchmarks/user.svg)", "![chart](/public/packages/docs/benchmarks/user.svg)"],
    ['<img src="demo.svg">', '<img src="/public/packages/docs/demo.svg">'],
    [
      "[out](https://effect.website) [here](#limits)",
      "[out](https://effect.website) [here](#limits)",
    ],
    ["`[code](laws.md)`", "`[code](laws.md)`"],
    ["```md\n[code](laws.md)\n```\n", "```md\n[code](laws.md)\n```\n"],
  ])("%s", (text, expected) => {
    assert.strictEqual(linked(text), expected)
  })
})
