/**
 * Limits how many turns run at once in a process. A conversation takes a permit when a turn starts while none runs, and
 * releases it when none runs any more: a turn that follows directly on another keeps the permit. Never waits: a turn beyond
 * the limit is refused.
 */
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { State } from "../decider/State.ts"
import { type Decision, nothing } from "../decider/Decision.ts"

/** The permits of one process. */
export class TurnPermits {
  private running = 0
  private readonly maxTurns: number

  /** `maxTurns`: the limit, at least 1. */
  constructor(maxTurns: number) {
    this.maxTurns = maxTurns
  }

  /** Returns the decision, or a refusal with `TooManyTurns` that changes nothing if it would exceed the limit. */
  admit(before: State, decision: Decision): Decision {
    const starts = decision.actions.some(({ _tag }) => _tag === "StartTurn")
    if (before.turn !== undefined || !starts) return decision
    if (this.running < this.maxTurns) {
      this.running++
      return decision
    }
    return {
      ...nothing(before),
      refused: new SubmissionRefused({
        reason: "TooManyTurns",
        message: `${this.maxTurns} turns are running already, which is the limit`,
      }),
    }
  }

  /** Takes a permit for a turn that a loaded conversation resumes, even beyond the limit. */
  resume({ turn }: Pick<State, "turn">): void {
    if (turn !== undefined) this.running++
  }

  /** Releases the permit if this change of state ended the turn. Call it for every change of a conversation's state. */
  release(before: State, after: Pick<State, "turn">): void {
    if (before.turn !== undefined && after.turn === undefined) this.running--
  }
}
