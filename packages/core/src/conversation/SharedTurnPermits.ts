/**
 * The permits of one conversation whose owner has a quota that is counted over several processes. The place of its turn is
 * taken before the turn is decided on, and given back while the end of the turn is being recorded: a client that gets the end
 * can start a turn at any process.
 *
 * ```
 *              prepare: a place is free             admit
 *   no place ───────────────────────────▶ place ───────────▶ turn runs
 *      ▲ └── none is: admit refuses         ▲                   │ release
 *      │                                    └── resume, settle  ▼
 *      └────────────────────────────────────────── settle: not needed
 * ```
 */
import * as Effect from "effect/Effect"
import { ConversationUnavailable } from "../ConversationErrors.ts"
import { type Decision, nothing } from "../decider/Decision.ts"
import type { State } from "../decider/State.ts"
import type { QuotaOf } from "../Quota.ts"
import type { Place, QuotaPlaces } from "../QuotaPlaces.ts"
import type { StoreError } from "../StoreErrors.ts"
import { type Permits, refuse, startsTurn } from "./Permits.ts"

/** Why a place was not taken: the limit is reached, or the other processes cannot be asked. */
type Miss = { readonly maxTurns: number } | StoreError

/** See the header. */
export class SharedTurnPermits implements Permits {
  private readonly process: Permits
  private readonly place: Place
  private readonly quotaOf: QuotaOf
  private readonly places: QuotaPlaces
  /** True while this process has the place. */
  private isTaken = false
  /** True while a turn runs. */
  private isRunning = false
  /** Why the place was not taken, until the decision that needs it. */
  private missed: Miss | undefined

  /** @param process the permits of all owners in this process, each of which is one of them too */
  constructor(process: Permits, place: Place, quotaOf: QuotaOf, places: QuotaPlaces) {
    this.process = process
    this.place = place
    this.quotaOf = quotaOf
    this.places = places
  }

  prepare(before: State, decide: () => Decision): Effect.Effect<void> | undefined {
    const { maxTurns } = this
    if (maxTurns === undefined || this.isTaken || this.missed !== undefined) return undefined
    if (before.turn !== undefined || !startsTurn(before, decide())) return undefined
    return Effect.match(this.places.take(this.place, maxTurns), {
      onSuccess: (isTaken) => {
        this.isTaken = isTaken
        if (!isTaken) this.missed = { maxTurns }
      },
      onFailure: (error) => {
        this.missed = error
      },
    })
  }

  admit(before: State, decision: Decision): Decision {
    if (!startsTurn(before, decision)) return decision
    const { missed } = this
    this.missed = undefined
    if (missed !== undefined) return this.refuse(before, missed)
    const admitted = this.process.admit(before, decision)
    if (admitted === decision) this.isRunning = true
    return admitted
  }

  resume(state: Pick<State, "turn">): void {
    this.process.resume(state)
    if (state.turn !== undefined) this.isRunning = true
  }

  release(before: State, after: Pick<State, "turn">): void {
    this.process.release(before, after)
    if (before.turn !== undefined && after.turn === undefined) this.isRunning = false
  }

  settle(): Effect.Effect<void> | undefined {
    const needed = this.isRunning && (this.isTaken || this.maxTurns !== undefined)
    if (this.isTaken === needed) return undefined
    this.isTaken = needed
    return needed ? this.places.keep(this.place) : this.places.release(this.place)
  }

  private get maxTurns(): number | undefined {
    return this.quotaOf(this.place.owner)?.maxTurns
  }

  private refuse(before: State, missed: Miss): Decision {
    if ("maxTurns" in missed) return refuse(before, `${missed.maxTurns} turns of the principal`)
    const { id } = this.place
    const refused = new ConversationUnavailable({ id, reason: missed.message, because: missed })
    return { ...nothing(before), refused }
  }
}
