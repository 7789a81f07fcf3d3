import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parse } from "../../src/patch/PatchText.ts"
import { apply } from "../../src/patch/UpdateText.ts"

/** The text of a file after one update. */
const updated = (content: string, body: string): Result.Result<string, string> => {
  const [hunk] = Result.getOrThrow(
    parse(`*** Begin Patch\n*** Update File: a\n${body}*** End Patch`),
  )
  return hunk?._tag === "Update" ? apply(content, hunk.chunks, "a") : Result.fail("no update")
}

describe("a hostile patch", () => {
  it("L13 with 200,000 lines at the position of another chunk applies them in order", () => {
    const lines = Array.from({ length: 200_000 }, (_, i) => `x${i}`)
    const added = lines.map((line) => `+${line}\n`).join("")
    const text = updated("a\nb\n", `@@\n a\n-b\n@@\n-b\n${added}*** End of File\n`)
    // The first chunk removes the line that the second one inserted in place of `b`.
    assert.deepStrictEqual(Result.getOrThrow(text).split("\n"), ["a", ...lines.slice(1), ""])
  })

  it("L13 with 50,000 overlapping chunks takes linear time", { timeout: 20_000 }, () => {
    const text = updated("a\n".repeat(50_000), "@@\n-a\n+b\n*** End of File\n".repeat(50_000))
    assert.isTrue(Result.isSuccess(text))
  })

  it(
    "L13 with repeating lines has its search abandoned, and the message says so",
    { timeout: 20_000 },
    () => {
      const body = `@@\n${"-a\n-b\n".repeat(15_000)}-a\n-a\n+y\n`
      assert.deepStrictEqual(
        Result.getOrThrow(Result.flip(updated("a\nb\n".repeat(60_000), body))),
        "Failed to find expected lines in a: they repeat too often to be searched for, use shorter chunks",
      )
    },
  )
})
