/**
 * Limits how many turns run at once: in a process, and of one owner. A conversation takes a permit when a turn starts while
 * none runs, and releases it when none runs any more: a turn that follows directly on another keeps the permit. Never waits:
 * a turn beyond a limit is refused.
 */
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { Owner } from "../ConversationStore.ts"
import type { State } from "../decider/State.ts"
import { type Decision, nothing } from "../decider/Decision.ts"
import type { QuotaOf } from "../Quota.ts"

/** The permits that a conversation takes. */
export interface Permits {
  /** Returns the decision, or a refusal with `TooManyTurns` that changes nothing if it would exceed a limit. */
  readonly admit: (before: State, decision: Decision) => Decision
  /** Takes a permit for a turn that a loaded conversation resumes, even beyond the limit. */
  readonly resume: (state: Pick<State, "turn">) => void
  /** Releases the permit if this change of state ended the turn. Call it for every change of a conversation's state. */
  readonly release: (before: State, after: Pick<State, "turn">) => void
}

const startsTurn = (before: State, { actions }: Decision): boolean =>
  before.turn === undefined && actions.some(({ _tag }) => _tag === "StartTurn")

const refuse = (before: State, turns: string): Decision => ({
  ...nothing(before),
  refused: new SubmissionRefused({
    reason: "TooManyTurns",
    message: `${turns} are running already, which is the limit`,
  }),
})

/** The permits of one process. */
export class TurnPermits implements Permits {
  private running = 0
  private readonly byOwner = new Map<Owner, number>()
  private readonly maxTurns: number
  private readonly quotaOf: QuotaOf | undefined

  /**
   * @param maxTurns turns of all owners, at least 1
   * @param quotaOf without it, no owner has a limit of its own
   */
  constructor(maxTurns: number, quotaOf?: QuotaOf) {
    this.maxTurns = maxTurns
    this.quotaOf = quotaOf
  }

  /** The permits of a conversation of that owner. */
  of(owner: Owner = null): Permits {
    const { byOwner, quotaOf } = this
    return quotaOf === undefined ? this : new OwnerPermits(this, owner, quotaOf, byOwner)
  }

  admit(before: State, decision: Decision): Decision {
    if (!startsTurn(before, decision)) return decision
    if (this.running >= this.maxTurns) return refuse(before, `${this.maxTurns} turns`)
    this.running++
    return decision
  }

  resume({ turn }: Pick<State, "turn">): void {
    if (turn !== undefined) this.running++
  }

  release(before: State, after: Pick<State, "turn">): void {
    if (before.turn !== undefined && after.turn === undefined) this.running--
  }
}

/** The permits of one owner: each of them is one of the process too. */
class OwnerPermits implements Permits {
  private readonly all: TurnPermits
  private readonly owner: Owner
  private readonly quotaOf: QuotaOf
  private readonly running: Map<Owner, number>

  constructor(all: TurnPermits, owner: Owner, quotaOf: QuotaOf, running: Map<Owner, number>) {
    this.all = all
    this.owner = owner
    this.quotaOf = quotaOf
    this.running = running
  }

  admit(before: State, decision: Decision): Decision {
    if (!startsTurn(before, decision)) return decision
    const { maxTurns } = this.quotaOf(this.owner) ?? {}
    if (maxTurns !== undefined && this.count >= maxTurns) {
      return refuse(before, `${maxTurns} turns of the principal`)
    }
    const admitted = this.all.admit(before, decision)
    if (admitted === decision) this.count++
    return admitted
  }

  resume(state: Pick<State, "turn">): void {
    this.all.resume(state)
    if (state.turn !== undefined) this.count++
  }

  release(before: State, after: Pick<State, "turn">): void {
    this.all.release(before, after)
    if (before.turn !== undefined && after.turn === undefined) this.count--
  }

  private get count(): number {
    return this.running.get(this.owner) ?? 0
  }

  private set count(count: number) {
    if (count === 0) this.running.delete(this.owner)
    else this.running.set(this.owner, count)
  }
}
