/**
 * What is left of conversations when their server is killed, whatever it was doing: L4, L5, L7, L8, L10 and L11 over real files,
 * real processes and a real `kill -9`.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Lane from "./crash/Lane.ts"
import { buildIfMissing } from "./support/Bundle.ts"

beforeAll(buildIfMissing)

const kills = 200
/** State directories, each with servers of its own. */
const lanes = 8
/** As many as have work for two processors: the rest of the tests runs beside this one. */
const atOnce = 3

/** `CRASH_SEED` plays one lane again. */
const given = process.env["CRASH_SEED"]
const seeds = given === undefined ? Array.from({ length: lanes }, (_, n) => n + 1) : [Number(given)]

describe.skipIf(process.platform !== "linux")("a server that is killed at any moment", () => {
  it.live(
    `L10 L11 L5 L4 loses nothing it has told of in ${kills} deaths, and the next one goes on`,
    () =>
      Effect.gen(function* () {
        const ran = yield* Effect.forEach(
          seeds,
          (seed) => Effect.result(Lane.run(seed, kills / lanes)),
          { concurrency: atOnce },
        )
        const [tallies, broken] = Arr.separate(ran)
        assert.deepStrictEqual(
          broken.map(({ message }) => message),
          [],
        )
        const sum = (of: (tally: Lane.Tally) => number) =>
          tallies.reduce((all, tally) => all + of(tally), 0)
        assert.strictEqual(
          sum((tally) => tally.kills),
          (kills / lanes) * seeds.length,
        )
        // The suite has to see something: a driver that says nothing would find nothing.
        for (const of of ["early", "caught", "inputs", "events"] as const)
          assert.isAbove(
            sum((tally) => tally[of]),
            0,
            of,
          )
      }),
    600_000,
  )
})
