import { assert, describe, it } from "@effect/vitest"
import { laterDifferences } from "./support/differences.ts"
import { explanations153 } from "./support/Explain153.ts"
import * as Recording from "./support/Recording.ts"
import { check, keyOf } from "./support/Replaying.ts"
import { replays153 } from "./support/Replays153.ts"

const version = "0.153.4"

const usedKeys = new Set<string>(
  Object.values(replays153).flatMap(({ uses }) => uses.map((use) => keyOf(use))),
)

describe("Replays of the original 0.153.4", () => {
  it("covers every copied recording", () => {
    assert.deepStrictEqual(
      Object.keys(replays153).toSorted(),
      [...Recording.namesOf(version)].toSorted(),
    )
  })

  it("every difference in its table is shown by a replay", () => {
    assert.deepStrictEqual(
      laterDifferences.map(({ key }) => key).filter((key) => !usedKeys.has(key)),
      [],
    )
  })

  it.effect.each(Object.entries(replays153))(
    "%s differs in nothing but what is named",
    ([name, replay]) => check(Recording.load(version, name), replay, explanations153),
  )
})
