/** The heap of one conversation, in bytes: the same on every machine, because nothing is optimised while it is measured. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { RetainedFigure, RetainedSizes } from "../src/core/Retained.ts"

const takeFigure = fileURLToPath(new URL("../src/peers/TakeFigure.ts", import.meta.url))

/** Compiled code would count as memory of the conversations that run meanwhile. */
const interpreted = ["--no-opt", "--no-maglev", "--no-sparkplug"]

const bytesEach = (placement: RetainedSizes["placement"], conversations: number): number => {
  const sizes: RetainedSizes = { conversations, placement }
  const output = execFileSync(
    process.execPath,
    ["--expose-gc", ...interpreted, takeFigure, "retained", JSON.stringify(sizes)],
    { encoding: "utf8" },
  )
  return (JSON.parse(output) as RetainedFigure).bytesEach
}

/** Less than what a conversation takes that keeps alive what it was created with: 1.1 KB more. */
const tolerance = 1.04

describe("heap of a conversation after a turn with a tool call", () => {
  it("is about 12 KB as long as it is in memory", { timeout: 120_000 }, () => {
    const bytes = bytesEach("loaded", 100)
    assert.isAbove(bytes, 1000)
    assert.isBelow(bytes, 12_040 * tolerance)
  })

  it("is little more than its id once it was evicted", { timeout: 120_000 }, () => {
    const bytes = bytesEach("evicted", 200)
    // The id alone takes 56.
    assert.isAbove(bytes, 56)
    assert.isBelow(bytes, 218 * 1.1)
  })
})
