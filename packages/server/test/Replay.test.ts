import { assert, describe, it } from "@effect/vitest"
import { differences, laterDifferences } from "./support/differences.ts"
import { explanations } from "./support/Explain.ts"
import { explanations153 } from "./support/Explain153.ts"
import * as Recording from "./support/Recording.ts"
import { check, type Explanations, keyOf, type Replay } from "./support/Replaying.ts"
import { replays029 } from "./support/Replays029.ts"
import { replays153 } from "./support/Replays153.ts"

interface Recorded<Key extends string> {
  readonly version: Recording.Version
  readonly replays: Readonly<Record<string, Replay<Key>>>
  /** What the README tells of it. */
  readonly table: ReadonlyArray<{ readonly key: Key }>
  readonly explanations: Explanations<Key>
}

const holds = <Key extends string>({ explanations, replays, table, version }: Recorded<Key>) =>
  describe(`Replays of the original ${version}`, () => {
    it("covers every copied recording", () => {
      assert.deepStrictEqual(
        Object.keys(replays).toSorted(),
        [...Recording.namesOf(version)].toSorted(),
      )
    })

    it("every difference in its table is shown by a replay", () => {
      const used = new Set(Object.values(replays).flatMap(({ uses }) => uses.map(keyOf)))
      assert.deepStrictEqual(
        table.map(({ key }) => key).filter((key) => !used.has(key)),
        [],
      )
    })

    it.effect.each(Object.entries(replays))(
      "%s differs in nothing but what is named",
      ([name, replay]) => check(Recording.load(version, name), replay, explanations),
    )
  })

holds({ version: "0.29.0", replays: replays029, table: differences, explanations })
holds({
  version: "0.153.4",
  replays: replays153,
  table: laterDifferences,
  explanations: explanations153,
})
