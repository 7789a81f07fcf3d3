import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { appDifferences } from "./support/appDifferences.ts"
import * as AppReplaying from "./support/AppReplaying.ts"
import { appReplays } from "./support/AppReplays.ts"
import * as Recording from "./support/Recording.ts"

const versions = ["0.45.0", "0.29.0-app"] as const

const all = versions.flatMap((version) =>
  Recording.namesOf(version).map((name) => [version, name] as const),
)

const found = (version: Recording.Version, name: string) =>
  Effect.suspend(() => {
    const entries = Recording.load(version, name)
    const replay = appReplays[name]
    return replay === undefined
      ? Effect.die(`no replay of ${name}`)
      : AppReplaying.found(version, entries, replay(entries))
  })

describe("Replays of the original's app-server, 0.29 and 0.45", () => {
  const shown = new Set<string>()

  it("covers every recording of either", () => {
    assert.deepStrictEqual(
      [...new Set(all.map(([, name]) => name))].toSorted(),
      Object.keys(appReplays).toSorted(),
    )
    assert.strictEqual(all.length, 23)
  })

  it.effect.each(all)("%s %s differs in nothing but what is named", ([version, name]) =>
    Effect.gen(function* () {
      const unnamed = []
      for (const difference of yield* found(version, name)) {
        const names = appDifferences.filter(({ is }) => is(difference))
        for (const { key } of names) shown.add(key)
        if (names.length !== 1) unnamed.push([names.map(({ key }) => key), difference])
      }
      assert.deepStrictEqual(unnamed, [])
    }),
  )

  it("every difference that has a name is shown by a replay", () => {
    assert.deepStrictEqual(
      appDifferences.map(({ key }) => key).filter((key) => !shown.has(key)),
      [],
    )
  })
})
