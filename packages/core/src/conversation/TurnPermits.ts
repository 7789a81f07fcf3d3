/**
 * How many turns may run at once. A conversation takes a permit when it leaves idleness and gives it back when it is
 * idle again: a turn that follows on another takes over its permit. Never waits; one over the limit is refused.
 */
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { State } from "../decider/State.ts"
import { type Decision, nothing } from "../decider/Decision.ts"

export class TurnPermits {
  private running = 0
  private readonly maxTurns: number

  constructor(maxTurns: number) {
    this.maxTurns = maxTurns
  }

  /** The decision, or its refusal (`TooManyTurns`, nothing changed) when it would start one turn too many. */
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

  /** A turn that was running in an earlier life takes its permit, also one too many. */
  resume({ turn }: Pick<State, "turn">): void {
    if (turn !== undefined) this.running++
  }

  /** To be told of every change of a conversation's state. */
  settle(before: State, after: Pick<State, "turn">): void {
    if (before.turn !== undefined && after.turn === undefined) this.running--
  }
}
