/**
 * Limits the conversations of each owner by its quota: those that this process knows, or with `QuotaPlaces` those in the
 * store of all processes. Then a conversation has a place of its own from before its creation until it is in the store, or
 * until it ends if it never will be; and one that is unarchived until it is not archived any more.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { TooManyConversations } from "../../ConversationErrors.ts"
import type { QuotaOf } from "../../Quota.ts"
import type { Place, QuotaPlaces } from "../../QuotaPlaces.ts"
import type { StoreError } from "../../StoreErrors.ts"
import type { Entry } from "../Entry.ts"
import type { Entries } from "./Entries.ts"

/** The quotas, and where they are counted. */
export interface QuotaParts {
  /** Default: no owner has a limit. */
  readonly quotaOf?: QuotaOf
  /** Default: this process alone. */
  readonly places?: QuotaPlaces
}

/** See the header. One per manager. */
export class ConversationQuota {
  private readonly entries: Entries
  private readonly parts: QuotaParts
  /** The places that this process has. */
  private readonly taken = new Map<ConversationId, Place>()

  constructor(entries: Entries, parts: QuotaParts) {
    this.entries = entries
    this.parts = parts
  }

  /** The error of one more conversation of the owner in this process; undefined if it may have one, or `take` decides. */
  refusal(owner: string | undefined): TooManyConversations | undefined {
    const max = this.maxOf(owner)
    if (owner === undefined || max === undefined || this.parts.places !== undefined)
      return undefined
    return this.entries.countOf(owner) < max ? undefined : tooMany(max)
  }

  /** Takes a place for a conversation that is not in the store or is archived, where several processes are counted. */
  take(
    id: ConversationId,
    owner: string | undefined,
  ): Effect.Effect<void, TooManyConversations | StoreError> {
    const max = this.maxOf(owner)
    const { places } = this.parts
    if (owner === undefined || max === undefined || places === undefined) return Effect.void
    const place: Place = { kind: "conversation", owner, id }
    return Effect.flatMap(places.take(place, max), (isTaken) => {
      if (!isTaken) return Effect.fail(tooMany(max))
      this.taken.set(id, place)
      return Effect.void
    })
  }

  /** Runs what makes an archived conversation available again, if its owner may have one more. */
  readmit<E>(
    { id, owner }: Entry,
    unarchiving: Effect.Effect<void, E>,
  ): Effect.Effect<void, E | TooManyConversations | StoreError> {
    return Effect.suspend((): Effect.Effect<void, E | TooManyConversations | StoreError> => {
      const refused = this.refusal(owner)
      if (refused !== undefined) return Effect.fail(refused)
      // It counts from now on, so that several at the same time do not exceed the limit.
      this.entries.setArchived(id, false)
      return Effect.andThen(this.take(id, owner), unarchiving).pipe(
        Effect.onError(() => Effect.sync(() => this.entries.setArchived(id, true))),
        // The store counts it now, or it is still archived.
        Effect.ensuring(this.release(id)),
      )
    })
  }

  /** Gives the place of the conversation back, if it has one. */
  release(id: ConversationId): Effect.Effect<void> {
    return Effect.suspend(() => {
      const place = this.taken.get(id)
      this.taken.delete(id)
      return place === undefined ? Effect.void : (this.parts.places?.release(place) ?? Effect.void)
    })
  }

  private maxOf(owner: string | undefined): number | undefined {
    return owner === undefined ? undefined : this.parts.quotaOf?.(owner)?.maxConversations
  }
}

const tooMany = (maxConversations: number) =>
  new TooManyConversations({ limit: "owner", maxConversations })
