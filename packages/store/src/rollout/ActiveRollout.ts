/**
 * A rollout that this process writes. It knows what lists show of the conversation before the file
 * and the index do.
 */
import type { ConversationMeta, ConversationSummary } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { previewOf } from "@colloquy/core/store/Preview"
import type { FileHandle } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import type { Waypoints } from "./Waypoints.ts"
import type { FileVersion, IndexRow } from "../RolloutIndex.ts"
import type { RolloutWriter } from "./RolloutWriter.ts"

/** What readers need of the open file. */
export interface ActiveFile {
  readonly handle: FileHandle
  readonly header: RolloutHeader
  /** Known line positions, shared by all readers of the file. */
  readonly waypoints: Waypoints
}

/** What lists show, as it was when the writer was opened. */
export type ListedFields = Omit<IndexRow, "checked" | "version">

/** State of one rollout that has a writer in this process. */
export class ActiveRollout {
  readonly file: ActiveFile
  readonly meta: ConversationMeta
  private readonly known: ListedFields
  private preview: string | undefined
  private updatedAtMs: number
  private writer: RolloutWriter | undefined
  /** True when the index lacks something that lists show now. */
  isDirty = false

  constructor(meta: ConversationMeta, known: ListedFields, file: ActiveFile) {
    this.meta = meta
    this.known = known
    this.file = file
    this.preview = known.preview
    this.updatedAtMs = known.updatedAtMs
  }

  /** Sets the writer. Called once, directly after construction. */
  setWriter(writer: RolloutWriter): void {
    this.writer = writer
  }

  /** Number of bytes that may be read: a failed append may have left more in the file. */
  get bytes(): number {
    return this.writer?.bytes ?? 0
  }

  /** Updates preview and time from records that were appended. */
  recordAppended(records: ReadonlyArray<LogRecord>): void {
    this.updatedAtMs = records.at(-1)?.atMs ?? this.updatedAtMs
    for (const record of records) {
      if (this.preview !== undefined) return
      if (record._tag !== "Event") continue
      this.preview = previewOf(record.event.msg)
      if (this.preview !== undefined) this.isDirty = true
    }
  }

  /**
   * What lists show of the conversation now.
   *
   * @param home the state directory
   */
  summary(home: string): ConversationSummary {
    return {
      meta: this.meta,
      updatedAtMs: this.updatedAtMs,
      archived: this.known.archived,
      path: `${home}/${this.known.path}`,
      ...(this.preview === undefined ? {} : { preview: this.preview }),
    }
  }

  /**
   * The row of the index for the conversation as it is now.
   *
   * @param isLast true when the writer is closed: the next writer of the unchanged file need not
   * read it
   */
  row(version: FileVersion, isLast: boolean): IndexRow {
    const { writer } = this
    return {
      ...this.known,
      updatedAtMs: this.updatedAtMs,
      ...(this.preview === undefined ? {} : { preview: this.preview }),
      version,
      ...(isLast && writer !== undefined && version.bytes === writer.bytes
        ? { checked: { numbering: writer.numbering, generation: writer.generation } }
        : {}),
    }
  }
}
