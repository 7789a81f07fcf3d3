/**
 * What the manager knows of one conversation, and where the conversation is. Data only; `LoadedConversations` is the
 * only module that changes a placement, except at the end of a removal: `Ending` puts an archived
 * conversation back to `Stored` and notes that a deleted one is.
 *
 *              load                    loaded                 evict, or its fiber ended
 *     Stored ────────▶ Transition ─────────────────▶ Loaded ───────────────────────────▶ Transition
 *      ▲  ▲             to Loaded                     ▲  ▲                                to Stored
 *      │  └──────────────── │                         │  └─── in use after all ─────────────── │
 *      │   could not be     ▼                         │                                        │
 *      │   loaded                                     │ create                                 │
 *      ├──────────────────────────── evicted ─────────┼────────────────────────────────────────┘
 *      │                                              │
 *      └──── archived ──── Removed ───────────────────┘
 *                            ▲
 *                            └── from Stored and Loaded: remove, archive, shutdown of the manager
 */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { StartedConversation, OwnedConversation } from "../Conversation.ts"
import type { ConversationLoad } from "../ConversationObserver.ts"
import {
  ConversationArchived,
  ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
} from "../ConversationErrors.ts"
import type { ConversationEnd } from "../conversation/ConversationHandle.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { RevocableLog } from "../store/RevocableLog.ts"
import { LeaseHeld, LeaseLost } from "../StoreErrors.ts"

/** A conversation in memory, from one load to the next eviction. */
export interface LoadedConversation {
  readonly conversation: OwnedConversation
  /** The fiber of the conversation. Everything that the conversation runs ends with it. */
  readonly fiber: StartedConversation["fiber"]
  /** Scope of the lease of its log (L16). Closed once nothing more is recorded, also when the fiber does not end. */
  readonly lease: Scope.Closeable
  readonly log: RevocableLog
  /** `end`: how the fiber has ended, once it has. */
  readonly status: { end: ConversationEnd | undefined }
}

/** Where a conversation is. The diagram above shows what moves it between placements. */
export type Placement =
  /** In memory, with the lease of its log. */
  | { readonly _tag: "Loaded"; readonly loaded: LoadedConversation }
  /** Being loaded or evicted. A caller that needs the conversation waits for `done` and looks again. */
  | {
      readonly _tag: "Transition"
      readonly to: "Stored" | "Loaded"
      readonly done: Deferred.Deferred<void, ConversationUnavailable>
    }
  /** Only in the store. */
  | { readonly _tag: "Stored" }
  /**
   * Not created yet, removed, or released because it is archived or the manager closed. `loaded` is the conversation as it
   * last was in memory: it still responds to callers that hold it. `isDeleted`: the store has deleted its log.
   */
  | {
      readonly _tag: "Removed"
      readonly loaded?: LoadedConversation
      readonly isDeleted?: boolean
    }

/** The same object for every conversation that is only in the store, since a process may have known very many. */
export const stored: Placement = { _tag: "Stored" }

/** A placement that is not being changed. */
export type SettledPlacement = Exclude<Placement, { readonly _tag: "Transition" }>

/**
 * What the manager knows of one conversation. There is one entry per id, from its creation or first use on. Members are
 * never deleted but set to undefined: an object of which one was deleted takes half a kilobyte more in V8.
 */
export interface Entry {
  readonly id: ConversationId
  placement: Placement
  /** Number of calls that use the conversation now. It is not evicted while there are any. */
  uses: number
  /** Time of the last use, in milliseconds since the epoch. */
  usedAtMs: number
  /** True while the conversation is created, removed or archived: no caller finds it until that has ended. */
  isHidden: boolean
  /** True while it is archived, or made available again: it is hidden, and callers learn why. */
  isArchiving: boolean
  /** True for a new conversation of which nothing is recorded yet. It is hidden until then. */
  isUnrecorded: boolean
  /** Called once, when the conversation was loaded or removed. Undefined unless a caller waits for that. */
  onMoved: Set<() => void> | undefined
  /** The principal that it belongs to, as its metadata records it. Absent: the local user. */
  readonly owner?: string
  /** Path of the file by which it was opened. Undefined for a conversation that was opened by its id. */
  path: string | undefined
  /**
   * Settings at the last eviction from this process. They include what no store keeps, such as the approval rule of an
   * embedding application.
   */
  settings: ConversationSettings | undefined
}

/** An entry that no call has used yet. */
export const makeEntry = (id: ConversationId, placement: Placement, owner?: string): Entry => ({
  id,
  ...defined({ owner }),
  placement,
  uses: 0,
  usedAtMs: 0,
  isHidden: false,
  isArchiving: false,
  isUnrecorded: false,
  onMoved: undefined,
  path: undefined,
  settings: undefined,
})

/**
 * Why a conversation that is not in memory, and cannot be loaded, is not available to a caller that holds it.
 *
 * @param isHalted true when the manager closes
 */
export const absent = (
  { id, isArchiving, isHidden, isUnrecorded, placement }: Entry,
  isHalted: boolean,
): ConversationUnavailable => {
  const unavailable = (reason: string, because: NonNullable<ConversationUnavailable["because"]>) =>
    new ConversationUnavailable({ id, reason, because })
  const missing = new NoSuchConversation({ id })
  if (isUnrecorded) return unavailable("its log could not be created", missing)
  if (placement._tag === "Removed" && placement.isDeleted === true) {
    return unavailable("it was removed", missing)
  }
  if (isHalted) return unavailable("it is being closed", new ManagerClosed())
  return isHidden && !isArchiving
    ? unavailable("it is being removed", missing)
    : unavailable("it is being archived or unarchived", new ConversationArchived())
}

/** Hides a conversation while this operation is carried out, or shows it again. */
export const setHidden = (
  entry: Entry,
  operation: "delete" | "archive" | "unarchive" | undefined,
): void => {
  entry.isHidden = operation !== undefined
  entry.isArchiving = operation === "archive" || operation === "unarchive"
}

/** What each of these conversations that is loaded holds at this moment. */
export const loadsOf = (entries: Iterable<Entry>): ReadonlyArray<ConversationLoad> =>
  Array.from(entries).flatMap(({ placement }) =>
    placement._tag === "Loaded" ? [placement.loaded.conversation.load] : [],
  )

/**
 * The error of an operation that has released this conversation, where another process has taken it over since: what this
 * one was asked to do with it may be long past there. Undefined in every other case.
 */
export const takenOver = ({ id, placement }: Entry): LeaseHeld | undefined => {
  const end = placement._tag === "Removed" ? placement.loaded?.status.end : undefined
  return end?._tag === "Lost" && end.because.because instanceof LeaseLost
    ? new LeaseHeld({ id, holder: {} })
    : undefined
}

/** Notifies the callers that wait for the conversation to be loaded or removed. */
export const notifyMoved = (entry: Entry): void => {
  const { onMoved } = entry
  entry.onMoved = undefined
  for (const notify of onMoved ?? []) notify()
}

/** Waits until a conversation that was released, by whomever, runs no more. */
export const ended = (entry: Entry): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { placement } = entry
    const loaded = placement._tag === "Removed" ? placement.loaded : undefined
    return loaded === undefined ? Effect.void : Effect.asVoid(Fiber.await(loaded.fiber))
  })
