/**
 * Port: the conversations of one process, made, found, listed, forked and ended here, nowhere else (§5.1, §5.2). `Conversations`
 * keeps them.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Conversation } from "./Conversation.ts"
import type {
  BadCursor,
  BadPageLimit,
  CannotResume,
  ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
  TooManyConversations,
} from "./ConversationErrors.ts"
import type { ListQuery } from "./ConversationStore.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type {
  ConversationSummary as StoredSummary,
  LogAddress,
  Owner,
} from "./ConversationStore.ts"
import type { BadForkRule, ForkRule } from "./ForkRule.ts"
import type { LeaseHeld, StoreError } from "./StoreErrors.ts"

/** Why a conversation could not be made. Nothing of it is left behind (L3). */
export type CreateError =
  | TooManyConversations
  | ManagerClosed
  | StoreError
  | ConversationUnavailable

/** Why what a store has of a conversation could not be taken away or moved. */
export type RemoveError = NoSuchConversation | StoreError | LeaseHeld | ManagerClosed

/**
 * On whose behalf a call is made: conversations of other owners are treated as unknown, and new ones belong to this owner.
 */
export interface Access {
  readonly owner: Owner
}

export type GetError = NoSuchConversation | ConversationUnavailable | ManagerClosed

/** What a list tells of a conversation; none of them is loaded for it. */
export interface ConversationSummary {
  readonly id: ConversationId
  /** False when it is in the store and comes back at its next use. */
  readonly loaded: boolean
  /** What a person said first, white space folded; absent while nobody has said anything. */
  readonly preview?: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly cwd: string
  readonly provider?: string
  readonly model?: string
  readonly archived: boolean
  /** Of its file, where the store keeps files. */
  readonly path?: string
}

export interface ConversationPage {
  readonly items: ReadonlyArray<ConversationSummary>
  /** Where the next page begins; absent on the last. */
  readonly nextCursor?: string
}

export interface PageOptions extends Pick<
  ListQuery,
  "cwd" | "provider" | "archived" | "spoken" | "text" | "owner"
> {
  /** The `nextCursor` of an earlier page; default: the newest. */
  readonly cursor?: string
  /** 1 to 1,000; default 50. */
  readonly limit?: number
}

/**
 * The methods that take an `access` treat a conversation of another owner as unknown, in every error too; without one, as an
 * embedding program calls them, they reach every conversation. `list` restricts by `owner` of its options.
 */
export class ConversationManager extends Context.Service<
  ConversationManager,
  {
    /**
     * Makes a conversation; it is on disk, and its first event, `session_configured`, is in its log when this returns (L10).
     * With `resumePath` in its settings it begins with the history of that stored conversation, which stays as it is: events of
     * a turn that was not over there are left out, ids of submissions are kept.
     */
    readonly create: (
      settings: ConversationSettings,
      access?: Access,
    ) => Effect.Effect<Conversation, CreateError | CannotResume>
    /**
     * Finds a conversation, of whatever process, and loads it if need be; several callers share one load. What it gives
     * goes on working when the conversation leaves memory meanwhile: each call loads it again. An archived one is
     * `ConversationUnavailable`; so is one that another process writes, and `because` then names it (`LeaseHeld`).
     */
    readonly get: (id: string, access?: Access) => Effect.Effect<Conversation, GetError>
    /** Likewise, by the path of its file, archived or not. A path that the store does not take is `ConversationUnavailable`. */
    readonly open: (path: string, access?: Access) => Effect.Effect<Conversation, GetError>
    /**
     * What the store has, newest first by the time of creation, a page at a time; loads nothing. Pages that follow on one
     * another show each conversation that lives throughout exactly once, whatever is made or removed in between.
     */
    readonly list: (
      options?: PageOptions,
    ) => Effect.Effect<ConversationPage, BadCursor | BadPageLimit | StoreError>
    /** What the store records about a conversation, archived or not. Loads nothing. */
    readonly metadata: (
      where: LogAddress,
      access?: Access,
    ) => Effect.Effect<StoredSummary, NoSuchConversation | StoreError>
    /**
     * Ends a conversation: its turn, its listeners, its fiber, what the store has of it. Returns when that is done.
     * From the call on nobody finds it. When the store fails it is found again, and removing it can be tried again.
     */
    readonly remove: (id: string, access?: Access) => Effect.Effect<void, RemoveError>
    /**
     * Ends what runs of a conversation and puts it away: it is not listed and not found by its id until it is unarchived. When
     * the store fails it is where it was.
     */
    readonly archive: (id: string, access?: Access) => Effect.Effect<void, RemoveError>
    /** Brings it back. */
    readonly unarchive: (id: string, access?: Access) => Effect.Effect<void, RemoveError>
    /**
     * Makes a conversation of another one's beginning, with the settings that one has now; a turn that runs there
     * is left out and goes on. Its log is its own: nothing of it is read elsewhere. A rule that cannot be counted,
     * counts beyond the history, or names a submission whose turn is not over, is refused.
     */
    readonly fork: (
      id: string,
      rule: ForkRule,
      access?: Access,
    ) => Effect.Effect<Conversation, GetError | CreateError | BadForkRule>
    /**
     * Calls the listener right after each change of the list: one was made, one was removed or put away. Until the
     * scope ends. It must return at once.
     */
    readonly watch: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /**
     * Ends every conversation in memory, all at once: returns when the slowest one's turn has stopped (one second and the
     * kill grace, where its tools stop) and a store that was just asked has answered, after twelve seconds whatever does
     * not. What is left behind then goes on ending by itself. No new work is taken from the call on.
     * Closing the layer does the same.
     */
    readonly shutdown: Effect.Effect<void>
    /** True from `shutdown` on, or from the closing of the layer: every other member then fails with `ManagerClosed`. */
    readonly isClosed: Effect.Effect<boolean>
  }
>()("@colloquy/core/ConversationManager") {}
