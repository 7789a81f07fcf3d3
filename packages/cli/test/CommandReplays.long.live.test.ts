import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { proofsOf, shownBy, unexplained } from "../../server/test/support/DifferenceChecks.ts"
import * as Recording from "../../server/test/support/Recording.ts"
import { hasBubblewrap } from "./support/Bubblewrap.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { commandReplays, mismatches, version } from "./support/CommandReplays.ts"

beforeAll(buildIfMissing)

describe("replays of recordings with real commands", () => {
  it("exist for every recording, and for nothing else", () => {
    assert.deepStrictEqual(
      [...Recording.namesOf(version)].toSorted(),
      Object.keys(commandReplays).toSorted(),
    )
  })

  for (const name of Recording.namesOf(version)) {
    it.live.skipIf(!hasBubblewrap)(
      `${name} shows no mismatch without a difference that explains it, and proves its difference`,
      () =>
        Effect.gen(function* () {
          const found = yield* mismatches(name)
          assert.deepStrictEqual(unexplained(version, name, found), [])
          const proofs = proofsOf(version).filter(([, , { recording }]) => recording === name)
          assert.isNotEmpty(proofs)
          for (const [title, difference, proof] of proofs) {
            assert.isNotEmpty(shownBy(difference, proof, found), title)
          }
        }),
    )
  }
})
