import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Sealer } from "../src/Sealer.ts"

describe("Sealer", () => {
  it.effect("opens what it sealed, for the same purpose", () =>
    Effect.gen(function* () {
      const sealer = yield* Sealer.make
      for (const text of ["", "a", "é😀", "x".repeat(100_000)]) {
        const sealed = yield* sealer.seal("p", text)
        assert.match(sealed, /^[A-Za-z0-9_-]+$/)
        assert.strictEqual(yield* sealer.open("p", sealed), text)
        assert.strictEqual(yield* sealer.open("q", sealed), undefined)
      }
    }),
  )

  it.effect("seals the same text differently each time, without revealing it", () =>
    Effect.gen(function* () {
      const sealer = yield* Sealer.make
      const [a, b] = [yield* sealer.seal("p", "secret"), yield* sealer.seal("p", "secret")]
      assert.notStrictEqual(a, b)
      assert.notInclude(atob(a.replaceAll("-", "+").replaceAll("_", "/")), "secret")
    }),
  )

  it.effect("opens nothing that was changed in any place, cut, or sealed by another sealer", () =>
    Effect.gen(function* () {
      const sealer = yield* Sealer.make
      const other = yield* Sealer.make
      const sealed = yield* sealer.seal("p", "text")
      for (let i = 0; i < sealed.length; i++) {
        const changed = `${sealed.slice(0, i)}${sealed[i] === "A" ? "Q" : "A"}${sealed.slice(i + 1)}`
        assert.strictEqual(yield* sealer.open("p", changed), undefined, `place ${i}`)
        assert.strictEqual(yield* sealer.open("p", sealed.slice(0, i)), undefined, `length ${i}`)
      }
      assert.strictEqual(yield* other.open("p", sealed), undefined)
    }),
  )

  it.effect("L13 opens nothing else: no text, no base64, nothing too long", () =>
    Effect.gen(function* () {
      const sealer = yield* Sealer.make
      for (const given of ["", "zzz", "!", "😀", "A".repeat(64), "A".repeat(2 ** 21)]) {
        assert.strictEqual(yield* sealer.open("p", given), undefined)
      }
    }),
  )
})
