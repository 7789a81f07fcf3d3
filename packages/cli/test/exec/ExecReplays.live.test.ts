/** The recordings of `exec`, replayed in memory; only the files with a JSON Schema are real. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { proofsOf, shownBy, unexplained } from "../../../server/test/support/DifferenceChecks.ts"
import { mismatches, names, schemaPath, version } from "../support/ExecReplays.ts"
import { directory } from "../support/Home.ts"

/** The schemas of the runs that have one: the second is not JSON. */
const schemas = ['{"type":"object"}', "{not json"]

describe("replays of exec of the original", () => {
  it("exist for its 8 recordings", () => {
    assert.strictEqual(names.length, 8)
  })

  for (const name of names) {
    it.live(`${name} shows no mismatch without a difference that explains it`, () =>
      Effect.gen(function* () {
        const place = yield* directory()
        for (const [index, text] of schemas.entries()) {
          writeFileSync(join(place, `${index + 1}.json`), text)
        }
        const files = (path: string, run: number) =>
          path === schemaPath && run <= schemas.length ? join(place, `${run}.json`) : path
        const found = yield* mismatches(name, files)
        assert.deepStrictEqual(unexplained(version, name, found), [])
        for (const [title, difference, proof] of proofsOf(version)) {
          if (proof.recording !== name) continue
          assert.isNotEmpty(shownBy(difference, proof, found), title)
        }
      }),
    )
  }
})
