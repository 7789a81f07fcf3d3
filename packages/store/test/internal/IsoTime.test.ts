import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { IsoTimes, isoOf, msOf } from "../../src/internal/IsoTime.ts"

describe("times of a rollout", () => {
  it("agree with the calendar", () => {
    for (const [ms, text] of [
      [0, "1970-01-01T00:00:00.000Z"],
      [951_782_400_000, "2000-02-29T00:00:00.000Z"],
      [1_758_355_872_345, "2025-09-20T08:11:12.345Z"],
      [4_107_542_399_999, "2100-02-28T23:59:59.999Z"],
      [253_402_300_799_999, "9999-12-31T23:59:59.999Z"],
    ] as const) {
      assert.strictEqual(isoOf(ms), text)
      assert.strictEqual(msOf(text), ms)
    }
  })

  it.effect("are parsed to the value they were formatted from", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 5000; i++) {
        const ms = yield* Random.nextIntBetween(0, 253_402_300_799_999)
        assert.strictEqual(msOf(isoOf(ms)), ms)
      }
    }),
  )

  it("with another offset or precision are parsed to the same time, and other texts are rejected", () => {
    assert.strictEqual(msOf("2025-09-20T10:11:12.345+02:00"), 1_758_355_872_345)
    assert.strictEqual(msOf("2025-09-20T06:41:12.345678-01:30"), 1_758_355_872_345)
    assert.strictEqual(msOf("2025-09-20T08:11:12Z"), 1_758_355_872_000)
    assert.isUndefined(msOf("yesterday"))
    assert.isUndefined(msOf("2025-09-20"))
  })

  it("out of range are clamped to the nearest one", () => {
    assert.strictEqual(isoOf(-1), "1970-01-01T00:00:00.000Z")
    assert.strictEqual(isoOf(1e300), "9999-12-31T23:59:59.999Z")
  })

  it.effect("that follow one another are parsed as each would be by itself", () =>
    Effect.gen(function* () {
      const times = new IsoTimes()
      let ms = 1_758_355_872_345
      for (let i = 0; i < 5000; i++) {
        ms += yield* Random.nextIntBetween(-5000, 20_000)
        const text = isoOf(ms)
        const forms = [
          text,
          text.replace(/\.\d+/, ""),
          text.replace("Z", "+01:00"),
          text.slice(0, 19) + ".3x5Z",
          text.slice(0, 17) + "yy.345Z",
          "9" + text,
          "20x5" + text.slice(4),
          "",
        ]
        const form = forms[yield* Random.nextIntBetween(0, forms.length)] ?? ""
        assert.strictEqual(times.msOf(form), msOf(form), form)
      }
    }),
  )
})
