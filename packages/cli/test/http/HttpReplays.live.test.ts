import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { proofsOf, shownBy, unexplained } from "../../../server/test/support/DifferenceChecks.ts"
import * as Recording from "../../../server/test/support/Recording.ts"
import { buildIfMissing } from "../support/BuiltProgram.ts"
import { mismatches, recording, version } from "../support/HttpReplays.ts"

beforeAll(buildIfMissing, 60_000)

describe("the replay of the HTTP requests of the original", () => {
  it("exists for the only recording of them", () => {
    assert.deepStrictEqual(Recording.namesOf(version), [recording])
  })

  it.live("shows no mismatch without a difference that explains it, and proves each", () =>
    Effect.gen(function* () {
      const found = yield* mismatches
      assert.deepStrictEqual(unexplained(version, recording, found), [])
      for (const [title, difference, proof] of proofsOf(version)) {
        assert.isNotEmpty(shownBy(difference, proof, found), title)
      }
    }),
  )
})
