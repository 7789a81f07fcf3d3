/** The tests of the replays in memory and of the differences that they prove. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { proofsOf, shownBy, unexplained } from "./DifferenceChecks.ts"
import * as Recording from "./Recording.ts"
import * as Replayed from "./Replayed.ts"

export const replaySuite = (surface: string, versions: ReadonlyArray<Replayed.Version>): void => {
  describe(`replays of ${surface} of the original`, () => {
    it("exist for every recording, and for nothing else", () => {
      const names = (list: ReadonlyArray<string>) => [...new Set(list)].toSorted()
      assert.deepStrictEqual(
        names(versions.flatMap((version) => Recording.namesOf(version))),
        names(versions.flatMap((version) => Object.keys(Replayed.replays[version]))),
      )
    })

    it.effect.each(Replayed.recordings.filter(([version]) => versions.includes(version)))(
      "%s %s shows no mismatch without a difference that explains it",
      ([version, name]) =>
        Effect.map(Replayed.mismatches(version, name), (mismatches) =>
          assert.deepStrictEqual(unexplained(version, name, mismatches), []),
        ),
    )

    for (const version of versions) {
      it.effect.each(proofsOf(version))(
        "without the difference %s the replay fails",
        ([, difference, proof]) =>
          Effect.map(Replayed.mismatches(version, proof.recording), (mismatches) =>
            assert.isNotEmpty(shownBy(difference, proof, mismatches)),
          ),
      )
    }
  })
}
