import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import { laterHalf } from "../../../src/turn/compaction/Shorten.ts"
import { assistantItem, callItem, outputItem, userItem } from "../../support.ts"

const thought: ResponseItem = { type: "reasoning", summary: [] }

describe("laterHalf", () => {
  it("leaves out the beginning", () => {
    const items = ["a", "b", "c", "d"].map(userItem)
    assert.deepStrictEqual(laterHalf(items), items.slice(2))
  })

  it("never separates a call from its output, nor reasoning from the item after it", () => {
    const unit = (n: number) => [
      thought,
      callItem("look", `${n}`),
      outputItem(`${n}`, "x".repeat(n * 50)),
    ]
    const items = [1, 2, 3, 4, 5].flatMap(unit)
    for (let rest: ReadonlyArray<ResponseItem> | undefined = items; rest !== undefined;) {
      assert.strictEqual(rest.length % 3, 0)
      assert.strictEqual(rest[0], thought)
      rest = laterHalf(rest)
    }
  })

  it("keeps the last group of any size, and then leaves out nothing more", () => {
    const big = [callItem("look", "1"), outputItem("1", "x".repeat(10_000))]
    assert.deepStrictEqual(laterHalf([userItem("a"), assistantItem("b"), ...big]), big)
    assert.isUndefined(laterHalf(big))
    assert.isUndefined(laterHalf([]))
  })
})
