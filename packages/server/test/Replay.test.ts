import { assert, describe, it } from "@effect/vitest"
import { differences } from "./support/differences.ts"
import { explanations } from "./support/Explain.ts"
import * as Recording from "./support/Recording.ts"
import { check, keyOf } from "./support/Replaying.ts"
import { replays029 } from "./support/Replays029.ts"

const version = "0.29.0"

const usedKeys = new Set<string>(
  Object.values(replays029).flatMap(({ uses }) => uses.map((use) => keyOf(use))),
)

describe("Replays of the original 0.29", () => {
  it("covers every copied recording", () => {
    assert.deepStrictEqual(
      Object.keys(replays029).toSorted(),
      [...Recording.namesOf(version)].toSorted(),
    )
  })

  it("every difference in the table is shown by a replay", () => {
    assert.deepStrictEqual(
      differences.map(({ key }) => key).filter((key) => !usedKeys.has(key)),
      [],
    )
  })

  it.effect.each(Object.entries(replays029))(
    "%s differs in nothing but what is named",
    ([name, replay]) => check(Recording.load(version, name), replay, explanations),
  )
})
