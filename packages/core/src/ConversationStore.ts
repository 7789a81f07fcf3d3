/**
 * Port: where conversations are stored. One log of records per conversation, one writer at a time (L16), and the data
 * that lists need. The state of a conversation is a fold of its log (L10, L11).
 *
 * The first record of every log is event 0, `session_configured`. A store that reads the logs of another program, which
 * have no such event, makes one of what it knows and numbers the later events by their order. A store never decides what
 * is recorded or when a log is loaded. `MemoryStore` lives as long as its layer; `@colloquy/store` keeps files.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { NoSuchConversation } from "./ConversationErrors.ts"
import type { LogRecord } from "./LogRecord.ts"
import type { AppendError, LeaseHeld, StoreError } from "./StoreErrors.ts"

/** Facts about a conversation, fixed at its creation. Plain data. */
export interface ConversationMeta {
  readonly id: ConversationId
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number
  /** Working directory. Absolute. */
  readonly cwd: string
  /** The program that created it. */
  readonly originator: string
  /** Version of that program. */
  readonly version: string
  /** Text of the AGENTS.md files at its creation. */
  readonly instructions?: string
  /** Id of the provider at its creation. */
  readonly provider?: string
  /** Name of the model at its creation. */
  readonly model?: string
  /** Kind of the program that created it, in the words of the original: `cli`, `vscode`, `exec`, `mcp` … */
  readonly source?: string
  /** The repository that the working directory was in. */
  readonly git?: {
    readonly commitHash?: string
    readonly branch?: string
    readonly repositoryUrl?: string
  }
  /** Id of the conversation that its log was copied from. */
  readonly forkedFrom?: string
  /** True: its log is kept in memory only, and is in no list (`store/EphemeralLogs.ts`). No store sees one. */
  readonly ephemeral?: true
  /** The principal that the conversation belongs to. Absent: the local user, as in every rollout file without one. */
  readonly owner?: string
}

/** The owner of conversations: a principal, or null for conversations that have none recorded. */
export type Owner = string | null

/** A conversation as a list shows it, without reading its log. */
export interface ConversationSummary {
  readonly meta: ConversationMeta
  /**
   * The first `user_message` of kind `plain`, with white space folded, at most 1,024 UTF-16 code units
   * (`store/Preview.ts`). Absent while there is none.
   */
  readonly preview?: string
  /** The name that `rename` gave it last. Absent while it has none. */
  readonly name?: string
  /** Time of the last append, in milliseconds since the epoch. */
  readonly updatedAtMs: number
  /** True when it was archived and not unarchived since. */
  readonly archived: boolean
  /** Path of the rollout file, absolute. Absent when the store keeps no files. */
  readonly path?: string
  /** Only `metadata` returns it. Absent when the store cannot be that of a cluster. */
  readonly revision?: Revision
}

/**
 * Changes whenever the conversation is opened, archived or unarchived, and differs from those of a removed conversation
 * with the same id. Callers do not parse it.
 */
export type Revision = string

/** Where a page of a list ended: the sort key of its last item. */
export interface ListPosition {
  readonly createdAtMs: number
  readonly id: ConversationId
}

/** Which conversations a page lists. Filters are combined by "and". */
export interface ListQuery {
  /** Most items of the page, at least 1. */
  readonly limit: number
  /** Only conversations behind this position. */
  readonly after?: ListPosition
  /** Only those created in this working directory. */
  readonly cwd?: string
  /** Only those created with the provider of this id. */
  readonly provider?: string
  /** True: only archived ones. Default false: only those that are not archived. */
  readonly archived?: boolean
  /** True: only those with a preview. */
  readonly withPreview?: boolean
  /** Only those with this text in the preview or in the name; case does not matter. */
  readonly text?: string
  /** Only those of this owner. Default: those of all owners. */
  readonly owner?: Owner
}

/** One page of a list. */
export interface ListPage {
  /** Newest first: by `createdAtMs`, then by `id`, both descending. */
  readonly items: ReadonlyArray<ConversationSummary>
  /** Position of the last item. Absent when there are no more. */
  readonly next?: ListPosition
}

/** The log of the conversation with this id, or the one in this file if the store keeps files. */
export type LogAddress = { readonly id: ConversationId } | { readonly path: string }

/** A position between two records of a log, as a page returned it; valid as long as the log exists. 0: before the first. */
export type Position = number

/** One page of a log. */
export interface RecordPage {
  /** In the order of the log, also when reading backward. */
  readonly records: ReadonlyArray<LogRecord>
  /** Position of the next page in the direction of reading. Absent when there are no more records. */
  readonly next?: Position
}

/** `written`: survives the end of the process. `synced`: survives a crash of the machine. */
export type Durability = "written" | "synced"

/** The right to append to one log. */
export interface LogWriter {
  /** Grows with each writer of the log; a writer appends nothing once there is one with a larger number (L16). */
  readonly generation: number
  /** True once this process has given the log up, or has been notified that its lease is lost. Absent where it cannot. */
  readonly isRevoked?: boolean
  /**
   * Calls `notify` once, when the store finds the lease lost without an append of this writer: another process may write by
   * then. Calls it at once where that has happened already, and never because the scope of the lease has closed. One caller
   * per writer; `notify` returns at once. Absent where only an append can find out.
   */
  readonly onLost?: (notify: () => void) => void
  /**
   * Appends the whole batch or nothing. Callers make one call at a time. After a failure other than `Slow` nothing of the
   * batch is read later, and the writer is not used again. An interruption during the append waits for its end.
   */
  readonly append: (
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ) => Effect.Effect<void, AppendError>
}

/** A fault of a log that was repaired, or left out, when the log was opened. */
export interface Repair {
  readonly kind: "torn_tail_cut" | "torn_tail_completed" | "bad_line_skipped"
  /** For a person. Names the position, never the content. */
  readonly message: string
}

/** A log that was opened for appending. */
export interface OpenedLog {
  readonly writer: LogWriter
  readonly summary: ConversationSummary
  readonly repairs: ReadonlyArray<Repair>
}

/** The logs of all conversations. */
export class ConversationStore extends Context.Service<
  ConversationStore,
  {
    /**
     * Creates the log of a conversation with these first records. Resolves when it is synced. The lease is held until the
     * scope closes. A failure leaves no log.
     */
    readonly create: (
      meta: ConversationMeta,
      records: ReadonlyArray<LogRecord>,
    ) => Effect.Effect<LogWriter, StoreError, Scope.Scope>
    /** Absolute path of the file that `create` makes for this conversation. Absent or undefined when the store keeps no files. */
    readonly placeOf?: (meta: ConversationMeta) => Effect.Effect<string | undefined>
    /**
     * Takes the lease until the scope closes and repairs what a crash left, so that the whole log can be read afterwards.
     * The lease of a process that has ended is taken over.
     */
    readonly open: (
      where: LogAddress,
    ) => Effect.Effect<OpenedLog, StoreError | NoSuchConversation | LeaseHeld, Scope.Scope>
    /** Reads at most `max` records forward from `from` (default: the first record). Needs no lease. */
    readonly read: (
      id: ConversationId,
      page: { readonly from?: Position; readonly max: number },
    ) => Effect.Effect<RecordPage, StoreError | NoSuchConversation>
    /** Reads the last `max` records before `before` (default: the end). Needs no lease. */
    readonly readBackward: (
      id: ConversationId,
      page: { readonly before?: Position; readonly max: number },
    ) => Effect.Effect<RecordPage, StoreError | NoSuchConversation>
    /** The position right before the record of durable event `seq`; undefined when the log has no such event. Needs no lease. */
    readonly positionOf: (
      id: ConversationId,
      seq: number,
    ) => Effect.Effect<Position | undefined, StoreError | NoSuchConversation>
    /** One page of the conversations. Takes no lease. */
    readonly list: (query: ListQuery) => Effect.Effect<ListPage, StoreError>
    /** One conversation as a list shows it. Takes no lease. */
    readonly metadata: (
      where: LogAddress,
    ) => Effect.Effect<ConversationSummary, StoreError | NoSuchConversation>
    /**
     * Marks the conversation as archived; does nothing for an archived one. Fails while a writer has the lease, and with
     * `LeaseHeld` as well where the conversation has another revision than `revision`: another process has used it since.
     */
    readonly archive: (
      id: ConversationId,
      revision?: Revision,
    ) => Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld>
    /** Reverses `archive`, with the same failures. */
    readonly unarchive: (
      id: ConversationId,
      revision?: Revision,
    ) => Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld>
    /**
     * Names the conversation, archived or not and whoever has its lease. The log is not changed. Resolves when the name is
     * synced.
     *
     * @param name not empty
     */
    readonly rename: (
      id: ConversationId,
      name: string,
    ) => Effect.Effect<void, StoreError | NoSuchConversation>
    /** Removes the log, archived or not. Fails as `archive` does. */
    readonly delete: (
      id: ConversationId,
      revision?: Revision,
    ) => Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld>
  }
>()("@colloquy/core/ConversationStore") {}
