import { assert, describe, it } from "@effect/vitest"
import { empty, get, type GrowingMap, set } from "../../src/decider/GrowingMap.ts"

/** The versions of a map that gets these numbers as values of keys which repeat after `distinct` of them. */
const versions = (count: number, distinct: number) => {
  const all: Array<GrowingMap<number>> = [empty]
  for (let i = 0; i < count; i++) all.push(set(all[i] ?? empty, `k${i % distinct}`, i))
  return all
}

describe("GrowingMap", () => {
  it("has the newest value of each key, in every version", () => {
    const distinct = 70
    for (const [count, map] of versions(300, distinct).entries()) {
      for (let key = 0; key < distinct; key++) {
        const sets = Math.ceil((count - key) / distinct)
        assert.strictEqual(
          get(map, `k${key}`),
          sets <= 0 ? undefined : key + (sets - 1) * distinct,
          `k${key} after ${count}`,
        )
      }
    }
  })

  it("finds an entry in few places, and copies each entry a few times", () => {
    const count = 20_000
    let copied = 0
    let before: GrowingMap<number> = empty
    for (const map of versions(count, count)) {
      const known = new Set(before.maps)
      for (const one of map.maps) if (!known.has(one)) copied += one.size
      assert.isBelow(map.recent.length, 16)
      assert.isAtMost(map.maps.length, 11)
      before = map
    }
    assert.isAtMost(copied, 11 * count)
  })

  it("can be continued from any version", () => {
    const [, , before = empty] = versions(40, 40).slice(-3)
    const one = set(before, "x", -1)
    const other = set(before, "x", -2)
    assert.deepStrictEqual([get(one, "x"), get(other, "x"), get(before, "x")], [-1, -2, undefined])
  })
})
