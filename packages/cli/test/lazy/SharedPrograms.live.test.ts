import { StartTurns } from "@colloquy/tools/process/StartTurns"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SharedPrograms } from "../../src/lazy/SharedPrograms.ts"

describe("SharedPrograms", () => {
  it.live(
    "the parts of a process that are loaded apart get the same turns and trusted programs",
    () =>
      Effect.gen(function* () {
        const { layer } = yield* SharedPrograms
        const [tools, notify] = [yield* Layer.build(layer), yield* Layer.build(Layer.fresh(layer))]
        assert.strictEqual(Context.get(tools, StartTurns), Context.get(notify, StartTurns))
        assert.strictEqual(
          Context.get(tools, TrustedPrograms),
          Context.get(notify, TrustedPrograms),
        )
      }).pipe(Effect.scoped, Effect.provide(SharedPrograms.layerOf({ PATH: "/usr/bin:/bin" }))),
  )
})
