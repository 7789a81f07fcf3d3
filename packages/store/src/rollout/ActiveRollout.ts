/** A conversation that this process writes: what lists tell of it is known here before any file says so. */
import type { ConversationMeta, ConversationSummary } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { previewOf } from "@colloquy/core/store/Preview"
import type { FileHandle } from "../Files.ts"
import type { RolloutHeader } from "./RolloutHeader.ts"
import type { Waypoints } from "./LogReader.ts"
import type { FileVersion, IndexRow } from "../RolloutIndex.ts"
import type { RolloutWriter } from "./RolloutWriter.ts"

export interface ActiveFile {
  readonly handle: FileHandle
  readonly header: RolloutHeader
  readonly waypoints: Waypoints
}

/** What lists tell, as it was when it became live. */
export type ListedFields = Omit<IndexRow, "checked" | "version">

export class ActiveRollout {
  readonly file: ActiveFile
  readonly meta: ConversationMeta
  private readonly known: ListedFields
  private preview: string | undefined
  private updatedAtMs: number
  private writer: RolloutWriter | undefined
  /** True when the index does not have what lists tell of it now. */
  isDirty = false

  constructor(meta: ConversationMeta, known: ListedFields, file: ActiveFile) {
    this.meta = meta
    this.known = known
    this.file = file
    this.preview = known.preview
    this.updatedAtMs = known.updatedAtMs
  }

  /** Set once, right after this was made. */
  setWriter(writer: RolloutWriter): void {
    this.writer = writer
  }

  /** Bytes of the file that may be read. */
  get bytes(): number {
    return this.writer?.bytes ?? 0
  }

  recordAppended(records: ReadonlyArray<LogRecord>): void {
    this.updatedAtMs = records.at(-1)?.atMs ?? this.updatedAtMs
    for (const record of records) {
      if (this.preview !== undefined) return
      if (record._tag !== "Event") continue
      this.preview = previewOf(record.event.msg)
      this.isDirty = this.preview !== undefined
    }
  }

  /** @param home the state directory */
  summary(home: string): ConversationSummary {
    return {
      meta: this.meta,
      updatedAtMs: this.updatedAtMs,
      archived: this.known.archived,
      path: `${home}/${this.known.path}`,
      ...(this.preview === undefined ? {} : { preview: this.preview }),
    }
  }

  /** @param isLast the writer is done: whoever opens the file next needs not read it */
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
