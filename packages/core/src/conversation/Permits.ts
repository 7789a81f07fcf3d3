/** The permits that a conversation takes for its turns, as the conversation uses them. */
import type * as Effect from "effect/Effect"
import { SubmissionRefused } from "../ConversationErrors.ts"
import { type Decision, nothing } from "../decider/Decision.ts"
import type { State } from "../decider/State.ts"

/** The permits that a conversation takes. */
export interface Permits {
  /** Returns the decision, or a refusal with `TooManyTurns` that changes nothing if it would exceed a limit. */
  readonly admit: (before: State, decision: Decision) => Decision
  /** Takes a permit for a turn that a loaded conversation resumes, even beyond the limit. */
  readonly resume: (state: Pick<State, "turn">) => void
  /** Releases the permit if this change of state ended the turn. Call it for every change of a conversation's state. */
  readonly release: (before: State, after: Pick<State, "turn">) => void
  /**
   * What must have ended before `admit` is called with this decision, from this state; undefined if nothing. Absent where
   * permits are counted in this process alone.
   */
  readonly prepare?: (before: State, decide: () => Decision) => Effect.Effect<void> | undefined
  /**
   * Tells the other processes which permits were taken and released since; undefined if none. Let it end before clients see
   * the change. Absent where permits are counted in this process alone.
   */
  readonly settle?: () => Effect.Effect<void> | undefined
}

/** True if the decision starts a turn while none runs. */
export const startsTurn = (before: State, { actions }: Decision): boolean =>
  before.turn === undefined && actions.some(({ _tag }) => _tag === "StartTurn")

/** Refuses the turn because so many run already. */
export const refuse = (before: State, turns: string): Decision => ({
  ...nothing(before),
  refused: new SubmissionRefused({
    reason: "TooManyTurns",
    message: `${turns} are running already, which is the limit`,
  }),
})
