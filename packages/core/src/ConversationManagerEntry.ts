/** What a manager knows of one conversation, and where it is: in memory, in the store, or on its way. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Deferred from "effect/Deferred"
import type * as Scope from "effect/Scope"
import type { OwnedConversation } from "./Conversation.ts"
import type { ConversationUnavailable } from "./ConversationErrors.ts"

/** One life of a conversation in memory. */
export interface Live {
  readonly conversation: OwnedConversation
  readonly scope: Scope.Closeable
  /** Set when its fiber has ended. */
  readonly fate: { ended: boolean }
}

export type Slot =
  | { readonly _tag: "Live"; readonly live: Live }
  /** Being stored or loaded; whoever wants it waits for `done` and looks again. */
  | {
      readonly _tag: "Moving"
      readonly to: "Stored" | "Live"
      readonly done: Deferred.Deferred<void, ConversationUnavailable>
    }
  | { readonly _tag: "Stored" }
  /** Removed, shut down or ended; its last life still answers those who hold it. */
  | { readonly _tag: "Gone"; readonly live?: Live }

export interface Entry {
  readonly id: ConversationId
  /** Counts the conversations of the manager in the order in which they are listed. */
  ordinal: number
  slot: Slot
  /** Calls that are being carried out: as long as there are any it stays in memory. */
  uses: number
  usedAtMs: number
  /** True when the store has it, maybe an older state of it. */
  stored: boolean
  /** True while it is being removed: nobody finds it any more. */
  leaving: boolean
}

export const entryOf = (id: ConversationId, slot: Slot): Entry => ({
  id,
  ordinal: 0,
  slot,
  uses: 0,
  usedAtMs: 0,
  stored: slot._tag === "Stored",
  leaving: false,
})
