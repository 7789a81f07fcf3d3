import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EffectCopy from "../../src/manager/EffectCopy.ts"

describe("EffectCopy", () => {
  it.effect("accepts a program on the same copy of Effect", () => EffectCopy.requireOneCopy)

  it.effect("does not accept a fiber of another class", () =>
    Effect.withFiber((fiber) =>
      Effect.sync(() => {
        assert.isTrue(EffectCopy.isOwnFiber(fiber))
        assert.isFalse(EffectCopy.isOwnFiber(Object.create(fiber)))
      }),
    ),
  )

  it("the error names the versions and what to do", () => {
    const { message } = new EffectCopy.SecondEffectCopy({ version: "4.1.0" })
    assert.match(message, /two copies of the package "effect".*4\.1\.0.*npm ls effect/)
  })
})
