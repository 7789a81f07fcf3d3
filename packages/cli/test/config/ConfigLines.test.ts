import { assert, describe, it } from "@effect/vitest"
import { lineOf, linesOf } from "../../src/config/ConfigLines.ts"

const text = `# a comment
model = "m"
text = """
two lines
"""

[profiles.fast]
model = "f"
"quoted key" = 1

[model_providers.p]
http_headers = { a = "1", b = "2" }
deep.er = 1

[[list]]
x = 1
[[list]]
x = 2
`

describe("ConfigLines", () => {
  it("finds the line on which each key and table begins", () => {
    assert.deepStrictEqual(
      [...linesOf(text)],
      [
        ["model", 2],
        ["text", 3],
        ["profiles.fast", 7],
        ["profiles.fast.model", 8],
        ["profiles.fast.quoted key", 9],
        ["model_providers.p", 11],
        ["model_providers.p.http_headers", 12],
        ["model_providers.p.http_headers.a", 12],
        ["model_providers.p.http_headers.b", 12],
        ["model_providers.p.deep.er", 13],
        ["list", 15],
        ["list.x", 16],
      ],
    )
  })

  it("gives a missing key the line of its table, and none where there is no table", () => {
    assert.strictEqual(lineOf(text, "model_providers.p.name"), 11)
    assert.strictEqual(lineOf(text, "profiles.slow.model"), undefined)
    assert.strictEqual(lineOf("", "model"), undefined)
  })
})
