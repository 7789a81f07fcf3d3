/**
 * Port: the conversations and the running turns of each owner, counted over all processes that share it. Without it each
 * process counts by itself. Only what belongs to an owner with a quota is counted.
 *
 * A place is room for one conversation or one turn. It belongs to the process that took it, and ends with that process:
 * what a killed process had can be taken by the others as soon as its leases have ended.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreError } from "./StoreErrors.ts"

/** Room for one conversation, or for its running turn. */
export interface Place {
  /**
   * `turn`: the conversation has a running turn. `conversation`: the conversation exists and is not in the store, where it
   * counts until it is archived or deleted.
   */
  readonly kind: "conversation" | "turn"
  /** The principal that the conversation belongs to. */
  readonly owner: string
  readonly id: ConversationId
}

/** See the header. No two calls for the same place may run at once. */
export interface QuotaPlaces {
  /**
   * Takes the place, if the owner has fewer than `max` others of that kind in all processes; otherwise resolves with false
   * and changes nothing. Conversations in the store count as well. Fails if the processes cannot be asked: then the place
   * is not taken.
   */
  readonly take: (place: Place, max: number) => Effect.Effect<boolean, StoreError>
  /**
   * Takes the place whatever the others have. Never fails: while the count cannot be reached, it resolves all the same, and
   * the place is counted as soon as possible.
   */
  readonly keep: (place: Place) => Effect.Effect<void>
  /** Gives the place back, or later where the count cannot be reached. Does nothing for one that is not taken. */
  readonly release: (place: Place) => Effect.Effect<void>
}

/** The places. Read once by each manager, when it starts. */
export const QuotaPlaces = Context.Reference<QuotaPlaces | undefined>(
  "@colloquy/core/QuotaPlaces",
  {
    defaultValue: () => undefined,
  },
)
