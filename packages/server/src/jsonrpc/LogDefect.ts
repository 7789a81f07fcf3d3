import * as Effect from "effect/Effect"

/** Runs the effect to its end; a defect in it is logged and ends nothing else (L13). */
export const logDefect = (what: string, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(effect, (defect) => Effect.logError(`${what} failed`, defect))
