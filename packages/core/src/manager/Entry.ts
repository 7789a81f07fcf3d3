/** What a manager knows of one conversation, and where it is: in memory, in the store, or on its way. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Deferred from "effect/Deferred"
import type * as Scope from "effect/Scope"
import type { Begun, OwnedConversation } from "../Conversation.ts"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"

/** One life of a conversation in memory. */
export interface Loaded {
  readonly conversation: OwnedConversation
  /** Everything of it that runs ends with this. */
  readonly fiber: Begun["fiber"]
  /** Its lease (L16): closed when nothing is recorded any more, also where a fiber does not end. */
  readonly lease: Scope.Closeable
  /** Set when its fiber has ended. */
  readonly fate: { ended: boolean }
}

export type Placement =
  | { readonly _tag: "Live"; readonly live: Loaded }
  /** Leaving memory or being loaded; whoever wants it waits for `done` and looks again. */
  | {
      readonly _tag: "Moving"
      readonly to: "Stored" | "Live"
      readonly done: Deferred.Deferred<void, ConversationUnavailable>
    }
  | { readonly _tag: "Stored" }
  /** Removed, or the manager is closed; its last life still answers those who hold it. */
  | { readonly _tag: "Gone"; readonly live?: Loaded }

export interface Entry {
  readonly id: ConversationId
  placement: Placement
  /** Calls that are being carried out: as long as there are any it stays in memory. */
  uses: number
  usedAtMs: number
  /** True while it is being removed or put away: nobody finds it any more. */
  isHidden: boolean
  /** Called when it was loaded, and when it is gone. Made when somebody waits for that. */
  onMoved?: Set<() => void>
  /** The principal that it belongs to, as its metadata records it. */
  readonly owner?: string
  /** Where it was opened by its file. */
  path?: string
  /**
   * Those it ran with when it left memory, if this process had it there: with what no store keeps, such as a rule of an
   * embedding application.
   */
  settings?: ConversationSettings
}

export const makeEntry = (id: ConversationId, placement: Placement, owner?: string): Entry => ({
  id,
  ...(owner === undefined ? {} : { owner }),
  placement,
  uses: 0,
  usedAtMs: 0,
  isHidden: false,
})

/** Wakes those who wait for it to be loaded or gone. */
export const notifyMoved = (entry: Entry): void => {
  const { onMoved } = entry
  delete entry.onMoved
  for (const wake of onMoved ?? []) wake()
}
