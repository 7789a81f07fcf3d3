import * as Effect from "effect/Effect"

/** Runs the effect. A defect in it is logged and does not fail the caller (L13). */
export const logDefect = (what: string, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(effect, (defect) => Effect.logError(`${what} failed`, defect))
