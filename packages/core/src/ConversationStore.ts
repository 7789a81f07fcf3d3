/**
 * Port: where conversations are kept. One log of records per conversation, one writer at a time (L16), and what lists need.
 * A conversation appends as it goes; the log is the truth, and whoever opens it folds it (L10, L11).
 *
 * The first record of every log is event 0, `session_configured`; a store that reads logs of others, which have none,
 * makes one of what it knows, and numbers the events that follow by their order. A store never decides what is
 * recorded, or when it is loaded. `MemoryStore` lives as long as its layer; `@colloquy/store` keeps files.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { NoSuchConversation } from "./ConversationErrors.ts"
import type { LogRecord } from "./LogRecord.ts"
import type { AppendError, LeaseHeld, StoreError } from "./StoreErrors.ts"

/** What a conversation is, told once when it is made. Plain data. */
export interface ConversationMeta {
  readonly id: ConversationId
  readonly createdAtMs: number
  /** Absolute. */
  readonly cwd: string
  /** The program that made it, and its version. */
  readonly originator: string
  readonly version: string
  /** Text of the AGENTS.md files that it began with. */
  readonly instructions?: string
  /** Id of the provider, and the model, that it began with. */
  readonly provider?: string
  readonly model?: string
  /** Where it came from, as the original says it: `cli`, `vscode`, `exec`, `mcp` … */
  readonly source?: string
  readonly git?: {
    readonly commitHash?: string
    readonly branch?: string
    readonly repositoryUrl?: string
  }
  readonly forkedFrom?: string
  /** The principal that the conversation belongs to. Absent: it belongs to the local user, as every rollout file without one. */
  readonly owner?: string
}

/** The owner of conversations: a principal, or null for conversations that have none recorded. */
export type Owner = string | null

/** What a list tells of a conversation without reading its log. */
export interface ConversationSummary {
  readonly meta: ConversationMeta
  /**
   * What a person said first: the first `user_message` of kind `plain`, white space folded, at most 1,024 UTF-16
   * code units (`Preview.ts`); absent while nobody has said anything.
   */
  readonly preview?: string
  /** Of the last append. */
  readonly updatedAtMs: number
  readonly archived: boolean
  /** Of a store that keeps files. Absolute. */
  readonly path?: string
}

/** Where a page of a list ended. */
export interface ListPosition {
  readonly createdAtMs: number
  readonly id: ConversationId
}

export interface ListQuery {
  /** At least 1. */
  readonly limit: number
  /** Only those behind this place. */
  readonly after?: ListPosition
  readonly cwd?: string
  /** Id of the provider it began with. */
  readonly provider?: string
  /** Default false: only those that are not; true: only those that are. */
  readonly archived?: boolean
  /** True: only those with a preview. */
  readonly spoken?: boolean
  /** In the preview, whatever the case. */
  readonly text?: string
  /** Only those of this owner; default: those of all owners. */
  readonly owner?: Owner
}

export interface ListPage {
  /** Newest first: by `createdAtMs`, the same time by `id`, both descending. */
  readonly items: ReadonlyArray<ConversationSummary>
  /** The place of the last item when there may be more. */
  readonly next?: ListPosition
}

/** By its id, or by the path of its file where the store keeps files. */
export type LogAddress = { readonly id: ConversationId } | { readonly path: string }

/** A place between two records of a log, as a page gave it: valid for that log as long as nobody removes it. 0: before the first. */
export type Position = number

export interface RecordPage {
  /** In the order of the log. */
  readonly records: ReadonlyArray<LogRecord>
  /** Where to go on, in the direction of reading; absent when there is nothing more. */
  readonly next?: Position
}

/** `written`: survives the process. `synced`: survives the machine. */
export type Durability = "written" | "synced"

export interface LogWriter {
  /** Grows with each writer of the conversation; a writer with a smaller one than the latest appends nothing (L16). */
  readonly generation: number
  /**
   * The whole batch or nothing, behind everything appended before. Calls come one at a time. When it fails nothing of the
   * batch is read later, except where it fails `Slow`; the writer is not used again then. An interrupt while it is
   * being carried out waits for its end.
   */
  readonly append: (
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ) => Effect.Effect<void, AppendError>
}

/** What was wrong with a log and was put right, or was left out, when it was opened. */
export interface Repair {
  readonly kind: "torn_tail_cut" | "torn_tail_completed" | "bad_line_skipped"
  /** For a person; says where, not what stood there. */
  readonly message: string
}

export interface OpenedLog {
  readonly writer: LogWriter
  readonly summary: ConversationSummary
  readonly repairs: ReadonlyArray<Repair>
}

export class ConversationStore extends Context.Service<
  ConversationStore,
  {
    /**
     * Makes the log of a conversation with these first records; it is there, synced, when this returns. The lease is
     * held until the scope closes. Fails, and nothing is left behind.
     */
    readonly create: (
      meta: ConversationMeta,
      records: ReadonlyArray<LogRecord>,
    ) => Effect.Effect<LogWriter, StoreError, Scope.Scope>
    /** The file that `create` makes for this conversation, absolute. Absent, or undefined: there is none. */
    readonly placeOf?: (meta: ConversationMeta) => Effect.Effect<string | undefined>
    /**
     * Takes the lease until the scope closes and puts right what a crash left: after it the whole log can be read. The
     * lease of an owner that is dead is taken over.
     */
    readonly open: (
      where: LogAddress,
    ) => Effect.Effect<OpenedLog, StoreError | NoSuchConversation | LeaseHeld, Scope.Scope>
    /** Forward from `from` (default: the first record), at most `max` records. Needs no lease. */
    readonly read: (
      id: ConversationId,
      page: { readonly from?: Position; readonly max: number },
    ) => Effect.Effect<RecordPage, StoreError | NoSuchConversation>
    /** Backward from `before` (default: the end), at most `max` records, the last ones before it. Needs no lease. */
    readonly readBackward: (
      id: ConversationId,
      page: { readonly before?: Position; readonly max: number },
    ) => Effect.Effect<RecordPage, StoreError | NoSuchConversation>
    /** The place right before the record of durable event `seq`; undefined where the log has no such event (yet). */
    readonly positionOf: (
      id: ConversationId,
      seq: number,
    ) => Effect.Effect<Position | undefined, StoreError | NoSuchConversation>
    readonly list: (query: ListQuery) => Effect.Effect<ListPage, StoreError>
    readonly metadata: (
      where: LogAddress,
    ) => Effect.Effect<ConversationSummary, StoreError | NoSuchConversation>
    /** Nobody writes it meanwhile. Done twice it is done once. */
    readonly archive: (
      id: ConversationId,
    ) => Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld>
    readonly unarchive: (
      id: ConversationId,
    ) => Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld>
    /** Nothing of it is found any more, archived or not. */
    readonly delete: (
      id: ConversationId,
    ) => Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld>
  }
>()("@colloquy/core/ConversationStore") {}
