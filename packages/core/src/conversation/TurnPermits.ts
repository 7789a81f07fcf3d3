/**
 * Limits how many turns run at once: in a process, and of one owner. A conversation takes a permit when a turn starts while
 * none runs, and releases it when none runs any more: a turn that follows directly on another keeps the permit. Never waits
 * for a permit: a turn beyond a limit is refused.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Owner } from "../ConversationStore.ts"
import type { Decision } from "../decider/Decision.ts"
import type { State } from "../decider/State.ts"
import type { QuotaOf } from "../Quota.ts"
import type { QuotaPlaces } from "../QuotaPlaces.ts"
import { type Permits, refuse, startsTurn } from "./Permits.ts"
import { SharedTurnPermits } from "./SharedTurnPermits.ts"

/** The permits of one process. */
export class TurnPermits implements Permits {
  private running = 0
  private readonly byOwner = new Map<Owner, number>()
  private readonly maxTurns: number
  private readonly quotaOf: QuotaOf | undefined
  private readonly places: QuotaPlaces | undefined

  /**
   * @param maxTurns turns of all owners in this process, at least 1
   * @param quotaOf without it, no owner has a limit of its own
   * @param places where the turns of an owner are counted over all processes; without them each process counts by itself
   */
  constructor(maxTurns: number, quotaOf?: QuotaOf, places?: QuotaPlaces) {
    this.maxTurns = maxTurns
    this.quotaOf = quotaOf
    this.places = places
  }

  /** The permits of a conversation of that owner. */
  of(id: ConversationId, owner: Owner = null): Permits {
    const { byOwner, places, quotaOf } = this
    if (quotaOf === undefined) return this
    return places === undefined || owner === null
      ? new OwnerPermits(this, owner, quotaOf, byOwner)
      : new SharedTurnPermits(this, { kind: "turn", owner, id }, quotaOf, places)
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

/** The permits of one owner in this process: each of them is one of the process too. */
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
