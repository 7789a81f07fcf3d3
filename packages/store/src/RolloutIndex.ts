/**
 * Port: what lists need of every conversation, so that none is read for a list. A cache: everything in it follows from the
 * files, and whoever finds it missing, wrong or broken makes it anew. Several processes may share one.
 */
import type { ConversationMeta, ListQuery } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Numbering } from "./rollout/LineEncoder.ts"

/** The index could not be used; the files are as they are. `damaged`: it will not work again before it is made anew. */
export class IndexFault extends Data.TaggedError("IndexFault")<{
  readonly message: string
  readonly damaged: boolean
}> {}

/** Which contents of a file a row tells of. */
export interface FileVersion {
  readonly bytes: number
  readonly modifiedMs: number
  readonly identity: string
}

/** Of a file that was read from beginning to end, or written so: what an opener need not read it for. */
export interface CheckedLog {
  /** Behind the last line. */
  readonly numbering: Numbering
  /** Of its last writer. */
  readonly generation: number
}

export interface IndexRow {
  /** Without `instructions`, which may be long. */
  readonly meta: ConversationMeta
  /** From the state directory, with `/`. */
  readonly path: string
  readonly updatedAtMs: number
  readonly archived: boolean
  readonly preview?: string
  readonly version: FileVersion
  readonly checked?: CheckedLog
}

export class RolloutIndex extends Context.Service<
  RolloutIndex,
  {
    readonly get: (id: ConversationId) => Effect.Effect<IndexRow | undefined, IndexFault>
    /** Replaces those with the same id. */
    readonly put: (rows: ReadonlyArray<IndexRow>) => Effect.Effect<void, IndexFault>
    readonly remove: (ids: ReadonlyArray<ConversationId>) => Effect.Effect<void, IndexFault>
    /** One more than the limit when there are more; newest first. */
    readonly page: (query: ListQuery) => Effect.Effect<ReadonlyArray<IndexRow>, IndexFault>
    /** Rows without a preview, newest first, at most `max`. */
    readonly unspoken: (max: number) => Effect.Effect<ReadonlyArray<IndexRow>, IndexFault>
    /** Those whose file lies in this folder, not below it. */
    readonly inFolder: (
      folder: string,
    ) => Effect.Effect<ReadonlyMap<string, ConversationId>, IndexFault>
    /** The folders that were read, from the state directory, and when they were last changed then. */
    readonly folders: Effect.Effect<ReadonlyMap<string, number>, IndexFault>
    readonly putFolder: (folder: string, modifiedMs: number) => Effect.Effect<void, IndexFault>
    readonly removeFolder: (folder: string) => Effect.Effect<void, IndexFault>
    /** Everything is forgotten; afterwards it works again, if it can. */
    readonly reset: Effect.Effect<void, IndexFault>
  }
>()("@colloquy/store/RolloutIndex") {}
