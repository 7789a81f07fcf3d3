/** A seal that the test can delay, as an asynchronous cipher would. */
import * as TestSealer from "@colloquy/testing/TestSealer"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { Sealer } from "../../src/Sealer.ts"

export interface HeldSealer {
  readonly layer: Layer.Layer<Sealer>
  /** Both are open at first. */
  readonly seals: Latch.Latch
  readonly opens: Latch.Latch
}

export const heldSealer = (): HeldSealer => {
  const seals = Latch.makeUnsafe(true)
  const opens = Latch.makeUnsafe(true)
  const held = Layer.effect(
    Sealer,
    Effect.map(Sealer, ({ open, seal }) => ({
      seal: (purpose, text) => Effect.andThen(seals.await, seal(purpose, text)),
      open: (purpose, sealed) => Effect.andThen(opens.await, open(purpose, sealed)),
    })),
  )
  return { layer: Layer.provide(held, TestSealer.layer), seals, opens }
}
