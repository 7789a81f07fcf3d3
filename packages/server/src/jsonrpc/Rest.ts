/**
 * What is left to do about a message that was read: most messages are handled at once, without an effect. Keeps its part of
 * L13: a defect in the handling of one message is contained.
 */
import * as Effect from "effect/Effect"

/** The rest of the handling of a message; undefined where everything was done at once. */
export type Rest = Effect.Effect<void> | undefined

/** Runs a part of the handling of a message, now and in its effect. `onDefect` continues where it throws or dies. */
export const containing = (
  run: () => Rest,
  onDefect: (defect: unknown) => Effect.Effect<void>,
): Rest => {
  try {
    const rest = run()
    return rest === undefined ? undefined : Effect.catchDefect(rest, onDefect)
  } catch (defect) {
    return onDefect(defect)
  }
}
