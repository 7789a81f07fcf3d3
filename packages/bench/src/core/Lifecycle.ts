/** How long it takes to create conversations and to end them, one after the other. */
import * as Effect from "effect/Effect"
import { settings, silent, withManager } from "./Setting.ts"

/** Sizes of the measurement. */
export interface LifecycleSizes {
  readonly conversations: number
}

/** The result. */
export interface LifecycleFigure {
  readonly createMs: number
  readonly removeMs: number
}

/** Measures creation and end. */
export const lifecycle = (sizes: LifecycleSizes): Effect.Effect<LifecycleFigure> =>
  withManager(silent, (manager) =>
    Effect.gen(function* () {
      const startedAtMs = performance.now()
      const ids = []
      for (let n = 0; n < sizes.conversations; n++) {
        ids.push((yield* manager.create(settings())).id)
      }
      const createdAtMs = performance.now()
      for (const id of ids) yield* manager.remove(id)
      return { createMs: createdAtMs - startedAtMs, removeMs: performance.now() - createdAtMs }
    }).pipe(Effect.orDie),
  )
