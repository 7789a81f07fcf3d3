import { assert, describe, it } from "@effect/vitest"
import { differences } from "./differences/Differences.ts"
import { replaySuite } from "./support/ReplaySuite.ts"

describe("differences from the original", () => {
  it("have unique keys and at least one proof each", () => {
    const keys = differences.map(({ key }) => key)
    assert.deepStrictEqual([...new Set(keys)], keys)
    assert.deepStrictEqual(
      differences.flatMap(({ key, proofs }) => (proofs.length === 0 ? [key] : [])),
      [],
    )
  })
})

replaySuite("the MCP server", ["0.29.0", "0.153.4"])
