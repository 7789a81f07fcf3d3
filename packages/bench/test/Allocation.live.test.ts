/** What a turn and a delta allocate in the core, in bytes: the same on every machine, because nothing is optimised. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { AllocatedFigure, AllocatedSizes } from "../src/core/Allocated.ts"

const takeFigure = fileURLToPath(new URL("../src/peers/TakeFigure.ts", import.meta.url))

/** Nothing is optimised, and nothing is collected while it is measured. */
const flags = [
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--min-semi-space-size=256",
  "--max-semi-space-size=256",
]

const figureOf = (sizes: AllocatedSizes): AllocatedFigure =>
  JSON.parse(
    execFileSync(process.execPath, [...flags, takeFigure, "allocated", JSON.stringify(sizes)], {
      encoding: "utf8",
    }),
  ) as AllocatedFigure

const tolerance = 1.1

describe("bytes that are allocated", () => {
  it("are about 95 KB for a turn, and 3.4 KB for a delta", { timeout: 60_000 }, () => {
    const { bytesPerDelta, bytesPerTurn, collections } = figureOf({ turns: 100, deltas: 20 })
    assert.strictEqual(collections, 0)
    assert.isAbove(bytesPerTurn, 1000)
    // 3.6 KB of it are the finished item after the deltas: without it, the same turn takes 91,270.
    assert.isBelow(bytesPerTurn, 94_920 * tolerance)
    assert.isAbove(bytesPerDelta, 100)
    assert.isBelow(bytesPerDelta, 3368 * tolerance)
  })
})
