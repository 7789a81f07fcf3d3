/**
 * Port: the data that lists need of every conversation, so that a list reads no rollout file. The
 * index is a cache: everything in it can be derived from the files, and a caller that finds it
 * missing, wrong or damaged rebuilds it. Several processes may share one index.
 */
import type { ConversationMeta, ListQuery } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Numbering } from "./rollout/LineEncoder.ts"

/** The index could not be read or written; the rollout files are unaffected. */
export class IndexFault extends Data.TaggedError("IndexFault")<{
  /** States the index and the reason. */
  readonly message: string
  /** True when the index keeps failing until it is reset. */
  readonly damaged: boolean
}> {}

/** Identifies the contents of a file that a row was derived from. */
export interface FileVersion {
  /** Length of the file. */
  readonly bytes: number
  /** Time of the last modification, in milliseconds since the epoch. */
  readonly modifiedMs: number
  /** As `FileStat.identity`. */
  readonly identity: string
}

/**
 * Result of reading a file from beginning to end, or of having written it. A writer that opens the
 * unchanged file need not read it again.
 */
export interface CheckedLog {
  /** The numbering behind the last line. */
  readonly numbering: Numbering
  /** Generation of the last writer. */
  readonly generation: number
}

/** What the index holds of one conversation. */
export interface IndexRow {
  /** The metadata without `instructions`, which may be long. */
  readonly meta: ConversationMeta
  /** Path of the rollout file, relative to the state directory, with `/`. */
  readonly path: string
  /** Time of the last record. */
  readonly updatedAtMs: number
  readonly archived: boolean
  /** Text of the first user message, shortened; absent when there is none. */
  readonly preview?: string
  /** The name of the conversation. `get` and `page` give it, and `put` ignores it: names are put by `putNames`. */
  readonly name?: string
  /** The contents that this row was derived from. */
  readonly version: FileVersion
  /** Absent when the file has not been read as a whole. */
  readonly checked?: CheckedLog
}

/** The name of a conversation. */
export interface NameRow {
  readonly id: ConversationId
  readonly name: string
}

/** The index of all conversations of a state directory. */
export class RolloutIndex extends Context.Service<
  RolloutIndex,
  {
    /** The row of a conversation, if the index has one. */
    readonly get: (id: ConversationId) => Effect.Effect<IndexRow | undefined, IndexFault>
    /** Inserts rows, replacing those with the same id. */
    readonly put: (rows: ReadonlyArray<IndexRow>) => Effect.Effect<void, IndexFault>
    /** Removes rows. Ids without a row are ignored. */
    readonly remove: (ids: ReadonlyArray<ConversationId>) => Effect.Effect<void, IndexFault>
    /** The rows that match a query, newest first: one more than the limit when there are more. */
    readonly page: (query: ListQuery) => Effect.Effect<ReadonlyArray<IndexRow>, IndexFault>
    /** Rows without a preview, newest first, at most `max`. */
    readonly withoutPreview: (max: number) => Effect.Effect<ReadonlyArray<IndexRow>, IndexFault>
    /** The conversations whose files are directly in this folder, by file name. */
    readonly inFolder: (
      folder: string,
    ) => Effect.Effect<ReadonlyMap<string, ConversationId>, IndexFault>
    /**
     * The folders that were read, relative to the state directory, each with its modification time
     * at that moment, in milliseconds since the epoch.
     */
    readonly folders: Effect.Effect<ReadonlyMap<string, number>, IndexFault>
    /** Records that a folder was read. */
    readonly putFolder: (folder: string, modifiedMs: number) => Effect.Effect<void, IndexFault>
    /** The name of a conversation, whether or not the index has a row for it. */
    readonly nameOf: (id: ConversationId) => Effect.Effect<string | undefined, IndexFault>
    /**
     * Puts the names that one piece of the file of names contains, in its order, and records how far that file was read.
     * Offsets are in bytes. `from` 0 removes all other names. Does nothing when the file was not read up to `from`.
     */
    readonly putNames: (
      names: ReadonlyArray<NameRow>,
      from: number,
      to: number,
    ) => Effect.Effect<void, IndexFault>
    /** How far the file of names was read, in bytes. */
    readonly namesRead: Effect.Effect<number, IndexFault>
    /**
     * Paths of the rollout files without a row because they are damaged, relative to the state
     * directory, in no particular order.
     */
    readonly damaged: Effect.Effect<ReadonlyArray<string>, IndexFault>
    /** Records damaged files. Each path ends with the name of a rollout file. */
    readonly putDamaged: (paths: ReadonlyArray<string>) => Effect.Effect<void, IndexFault>
    /** Removes records of damaged files. Paths without a record are ignored. */
    readonly removeDamaged: (paths: ReadonlyArray<string>) => Effect.Effect<void, IndexFault>
    /** Removes the record of a folder. */
    readonly removeFolder: (folder: string) => Effect.Effect<void, IndexFault>
    /**
     * Removes everything from the index. Afterwards a damaged index works again, if that is
     * possible.
     */
    readonly reset: Effect.Effect<void, IndexFault>
  }
>()("@colloquy/store/RolloutIndex") {}
