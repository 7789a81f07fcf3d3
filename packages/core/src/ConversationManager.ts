/**
 * Port: the conversations of one process. They are created, found, listed, forked and removed through this service and
 * nowhere else. `manager/Conversations.ts` implements it.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { BadClientTool } from "./ClientTool.ts"
import type { Conversation } from "./Conversation.ts"
import type {
  AttachError,
  BadConversationName,
  BadCursor,
  BadPageLimit,
  CannotResume,
  ConversationUnavailable,
  ManagerClosed,
  NoSuchConversation,
  TooManyConversations,
} from "./ConversationErrors.ts"
import type {
  ConversationSummary as StoredSummary,
  ListQuery,
  LogAddress,
  Owner,
  Revision,
} from "./ConversationStore.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { State } from "./decider/State.ts"
import type { BadForkRule, ForkRule } from "./ForkRule.ts"
import type { Listener } from "./listeners/Listener.ts"
import type { RecordOf } from "./LogRecord.ts"
import type { FollowOptions } from "./listeners/Listeners.ts"
import type { LeaseHeld, StoreError } from "./StoreErrors.ts"

/** Why a conversation could not be created. A failed creation leaves nothing behind (L3). */
export type CreateError =
  | TooManyConversations
  | ManagerClosed
  | StoreError
  | ConversationUnavailable

/** Why a conversation could not be removed or archived. */
export type RemoveError = NoSuchConversation | StoreError | LeaseHeld | ManagerClosed

/** Why a conversation could not be unarchived. `TooManyConversations`: its owner has as many others as it may have. */
export type UnarchiveError = RemoveError | TooManyConversations

/**
 * On whose behalf a call is made: conversations of other owners are treated as unknown, and new ones belong to this owner.
 */
export interface Access {
  readonly owner: Owner
}

/** How the copy of a conversation differs from it. */
export interface ForkOptions {
  /** Whether the copy is kept in memory only. Default: as the other one. */
  readonly ephemeral?: boolean
}

/** How a conversation is copied. */
export interface CopyOptions extends ForkOptions {
  /**
   * Id of the copy, for a caller that may have to repeat the call. The call resolves with the copy of this conversation that
   * has the id, where an earlier one has made it. Never an id that a client chose. Default: a new one.
   */
  readonly id?: ConversationId
}

/** Why a conversation could not be found or loaded. */
export type GetError = NoSuchConversation | ConversationUnavailable | ManagerClosed

/** A conversation as a list shows it. Listing loads no conversation. */
export interface ConversationSummary {
  readonly id: ConversationId
  /** True while it is in memory; false for one that its next use loads. */
  readonly loaded: boolean
  /** The first message of the user, with white space folded. Absent while there is none. */
  readonly preview?: string
  /** The name that it was given last. Absent while it has none. */
  readonly name?: string
  /** Milliseconds since the epoch, like `updatedAtMs`. */
  readonly createdAtMs: number
  /** Time of the last append to the log. */
  readonly updatedAtMs: number
  /** Working directory at its creation. Absolute. */
  readonly cwd: string
  /** Id of the provider at its creation. */
  readonly provider?: string
  /** Name of the model at its creation. */
  readonly model?: string
  readonly archived: boolean
  /** Path of its rollout file. Absent when the store keeps no files. */
  readonly path?: string
}

/** One page of a list. */
export interface ConversationPage {
  /** Newest first. */
  readonly items: ReadonlyArray<ConversationSummary>
  /** The `cursor` of the next page. Absent on the last page. */
  readonly nextCursor?: string
}

/** Which page of which conversations. The filters are those of the store. */
export interface PageOptions extends Pick<
  ListQuery,
  "cwd" | "provider" | "archived" | "withPreview" | "text" | "owner"
> {
  /** The `nextCursor` of an earlier page. Default: the first page. */
  readonly cursor?: string
  /** Conversations per page, 1 to 1,000. Default 50. */
  readonly limit?: number
}

/**
 * The conversations of one process. The methods that take an `access` treat a conversation of another owner as unknown, in
 * every error too. Without one, as an embedding program calls them, they reach every conversation. `list` restricts by
 * the `owner` of its options.
 */
export class ConversationManager extends Context.Service<
  ConversationManager,
  {
    /**
     * Creates a conversation. Resolves when its log with the first event, `session_configured`, is on disk (L10). With
     * `resumePath` in the settings it begins with the history of that stored conversation, which is not changed: events
     * of a turn that had not ended there are left out, ids of submissions are kept. Fails with `BadClientTool` where a
     * definition in `clientTools` cannot be used.
     */
    readonly create: (
      settings: ConversationSettings,
      access?: Access,
    ) => Effect.Effect<Conversation, CreateError | CannotResume | BadClientTool>
    /**
     * Creates a conversation for a caller that submits to it at once. Its log is created by the first submission, as one
     * batch with it (L10): until then nothing of it is on disk, it is not listed, no caller finds it, and a listener gets
     * none of its events. When the log cannot be created the submission fails with `ConversationUnavailable`, whose
     * `because` is a `StoreError` of operation `create`. If the scope closes before something was recorded, the
     * conversation ends and leaves nothing.
     */
    readonly createOnSubmit: (
      settings: ConversationSettings,
      access?: Access,
    ) => Effect.Effect<Conversation, CreateError | CannotResume | BadClientTool, Scope.Scope>
    /**
     * Finds a conversation that any process created, and loads it if needed; several callers share one load. The result
     * stays usable when the conversation is evicted: each of its calls loads it again. Fails with
     * `ConversationUnavailable` for an archived conversation, and for one whose lease another process holds; `because`
     * is `LeaseHeld` then and names the process.
     */
    readonly get: (id: string, access?: Access) => Effect.Effect<Conversation, GetError>
    /**
     * Like `get`, for a caller whose first call is `runTurn`: that call may be the one which looks for the
     * conversation, and fails where it does not exist.
     */
    readonly refer: (id: string, access?: Access) => Effect.Effect<Conversation, GetError>
    /**
     * Like `get`, by the path of its file, archived or not. Fails with `ConversationUnavailable` for a path that the
     * store does not accept.
     */
    readonly open: (path: string, access?: Access) => Effect.Effect<Conversation, GetError>
    /**
     * Attaches a listener like `Conversation.attach`, also to a conversation that another process has: its log is read as
     * it grows, and the conversation is loaded here once no process has it. The listener gets no ephemeral events and no
     * questions meanwhile, and one more `Synced` after each change. Until the scope closes.
     */
    readonly follow: (
      id: string,
      options: FollowOptions,
      access?: Access,
    ) => Effect.Effect<Listener, GetError | AttachError, Scope.Scope>
    /**
     * The current state; as far as its log tells, of a conversation that another process has, or that cannot be loaded because
     * the store is read-only or full.
     */
    readonly stateOf: (id: string, access?: Access) => Effect.Effect<State, GetError>
    /**
     * One page of the stored conversations, newest first by the time of creation. Loads none of them. Successive pages
     * contain each conversation that exists throughout exactly once, whatever is created or removed in between.
     */
    readonly list: (
      options?: PageOptions,
    ) => Effect.Effect<ConversationPage, BadCursor | BadPageLimit | StoreError>
    /** What the store records about a conversation, archived or not. Loads nothing. */
    readonly metadata: (
      address: LogAddress,
      access?: Access,
    ) => Effect.Effect<StoredSummary, NoSuchConversation | StoreError>
    /**
     * The events of a conversation from this number on (default: all) with the times at which they were recorded, archived or
     * not. Loads nothing, so that what a crash left unfinished is still unfinished here.
     */
    readonly history: (
      id: string,
      access?: Access,
      from?: number,
    ) => Effect.Effect<ReadonlyArray<RecordOf<"Event">>, NoSuchConversation | StoreError>
    /**
     * Ends a conversation: its turn, its listeners, its fiber and its log in the store. Resolves when that is done. From
     * the call on no caller finds it. When the store fails it can be found again, and the removal can be retried. With a
     * `revision` that `metadata` returned it fails with `LeaseHeld` where another process has used the conversation since;
     * likewise `archive` and `unarchive`.
     */
    readonly remove: (
      id: string,
      access?: Access,
      revision?: Revision,
    ) => Effect.Effect<void, RemoveError>
    /**
     * Ends what runs of a conversation and archives it: until `unarchive` it is not listed by default and not found by its
     * id. When the store fails it stays unarchived. Of several calls for one conversation, also to `remove` and `unarchive`,
     * each waits for the one before it, at most 30 seconds, and then has the result of a later call.
     */
    readonly archive: (
      id: string,
      access?: Access,
      revision?: Revision,
    ) => Effect.Effect<void, RemoveError>
    /**
     * Makes an archived conversation listed and found by its id again. Loads nothing. Fails, and leaves it archived, where
     * its owner has as many others as it may have.
     */
    readonly unarchive: (
      id: string,
      access?: Access,
      revision?: Revision,
    ) => Effect.Effect<void, UnarchiveError>
    /**
     * Names a conversation, archived or not, in whichever process it is. White space is folded; the name then has 1 to 1,000
     * UTF-16 code units. Loads nothing. Lists search names too. Resolves with the name as it was recorded.
     */
    readonly rename: (
      id: string,
      name: string,
      access?: Access,
    ) => Effect.Effect<
      string,
      BadConversationName | NoSuchConversation | StoreError | ManagerClosed
    >
    /**
     * Creates a conversation from the beginning of another one, with the settings that one has now. A turn that runs
     * there is left out and continues. The new log is a copy: nothing is read from the other one later. Fails with
     * `BadForkRule` for a number that is not a count or lies beyond the history, and for a submission whose turn has
     * not ended. Calls with the same `id` in their options make one conversation.
     */
    readonly fork: (
      id: string,
      rule: ForkRule,
      access?: Access,
      options?: CopyOptions,
    ) => Effect.Effect<Conversation, GetError | CreateError | BadForkRule>
    /**
     * Calls `listener` right after each change of the list: a conversation was created, removed, renamed, archived or unarchived.
     * It gets the owner of that conversation, and must return at once. Ends with the scope.
     */
    readonly watch: (listener: (owner: Owner) => void) => Effect.Effect<void, never, Scope.Scope>
    /**
     * Ends every conversation in memory, all at the same time. Resolves when the slowest turn has stopped (one second plus
     * the kill grace, if its tools stop) and running calls of the store have ended; after twelve seconds it resolves in
     * any case, and what still runs then continues to end by itself. From the call on no new work is accepted. Closing
     * the layer does the same.
     */
    readonly shutdown: Effect.Effect<void>
    /** True from `shutdown` on, or from the closing of the layer: every other member then fails with `ManagerClosed`. */
    readonly isClosed: Effect.Effect<boolean>
  }
>()("@colloquy/core/ConversationManager") {}
