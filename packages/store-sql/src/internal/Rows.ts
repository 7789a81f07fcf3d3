/** Converts conversations and records to rows and back. Pure. */
import type {
  ConversationMeta,
  ConversationSummary,
  Revision,
} from "@colloquy/core/ConversationStore"
import { LogRecord } from "@colloquy/core/LogRecord"
import { previewOf } from "@colloquy/core/store/Preview"
import { defined } from "@colloquy/protocol/Defined"
import * as Schema from "effect/Schema"

/** What of a conversation's row a list shows. */
export interface SummaryRow {
  readonly meta: string
  readonly updated_at_ms: number
  readonly preview: string | null
  readonly name: string | null
  readonly archived: number
}

/** What of a conversation's row says where its log is. */
export interface LogRow {
  readonly log: number
  readonly length: number
  /** Number of ranges of events that are rows of other logs. */
  readonly shares: number
}

/** The revision of a conversation: the number of its log is not used again, and its generation only grows. */
export const revisionOf = ({
  generation,
  log,
}: {
  readonly generation: number
  readonly log: number
}): Revision => `${log}.${generation}`

/** One record as the tables have it. */
export interface RecordRow {
  readonly position: number
  /** Number of the event; null for other records. */
  readonly seq: number | null
  readonly at_ms: number
  readonly body: string
}

/** What of a record is written. */
export interface NewRecord {
  readonly seq: number | undefined
  readonly atMs: number
  readonly body: string
}

// PostgreSQL has no texts with NUL, and neither database has half a surrogate pair.
const isPlain = (text: string): boolean =>
  text.isWellFormed() && !text.includes("\0") && !text.startsWith('"')

/** A text as a column has it: itself, or as JSON where the database could not keep it. Two texts never become the same. */
export const textColumn = (text: string): string => (isPlain(text) ? text : JSON.stringify(text))

const textOf = (column: string): string => (column.startsWith('"') ? JSON.parse(column) : column)

/** A text as searches compare it. */
export const folded = (text: string): string =>
  text.toLowerCase().toWellFormed().replaceAll("\0", "\ufffd")

/** The columns of a new conversation. */
export const metaColumns = (meta: ConversationMeta) => ({
  id: textColumn(meta.id),
  created_at_ms: meta.createdAtMs,
  cwd: textColumn(meta.cwd),
  provider: meta.provider === undefined ? null : textColumn(meta.provider),
  owner: meta.owner === undefined ? null : textColumn(meta.owner),
  meta: JSON.stringify(meta),
})

/** The conversation of a row, as lists show it. */
export const summaryOf = (row: SummaryRow): ConversationSummary => ({
  // `metaColumns` wrote it.
  meta: JSON.parse(row.meta) as ConversationMeta,
  updatedAtMs: row.updated_at_ms,
  archived: row.archived !== 0,
  ...defined({
    preview: row.preview === null ? undefined : textOf(row.preview),
    name: row.name === null ? undefined : textOf(row.name),
  }),
})

/** The body of an event has neither its number nor its time, so that forks can share it. */
export const eventBody = (event: { readonly id: string; readonly msg: unknown }): string =>
  JSON.stringify({ id: event.id, msg: event.msg })

/** A record as it is written. */
const newRecord = (record: LogRecord): NewRecord => {
  if (record._tag === "Event") {
    const { atMs, event } = record
    return { seq: event.seq, atMs, body: eventBody(event) }
  }
  const { atMs, ...body } = record
  return { seq: undefined, atMs, body: JSON.stringify(body) }
}

const decode = Schema.decodeUnknownExit(LogRecord)

/** The record of a row; undefined when this program cannot read it. */
export const recordOf = (row: RecordRow): LogRecord | undefined => {
  let body: unknown
  try {
    body = JSON.parse(row.body)
  } catch {
    return undefined
  }
  if (typeof body !== "object" || body === null) return undefined
  const exit = decode(
    row.seq === null
      ? { ...body, atMs: row.at_ms }
      : { _tag: "Event", atMs: row.at_ms, event: { ...body, seq: row.seq } },
  )
  return exit._tag === "Success" ? exit.value : undefined
}

/** What a batch of records adds to the row of its conversation. */
export interface BatchColumns {
  readonly records: ReadonlyArray<NewRecord>
  readonly events: number
  readonly bytes: number
  /** Time of the last record; absent for an empty batch. */
  readonly updatedAtMs: number | undefined
  /** The first preview among the records. */
  readonly preview: string | null
  readonly previewFolded: string | null
}

/** Converts a batch. */
export const batchColumns = (batch: ReadonlyArray<LogRecord>): BatchColumns => {
  let preview: string | undefined
  for (const record of batch) {
    if (preview === undefined && record._tag === "Event") preview = previewOf(record.event.msg)
  }
  const records = batch.map(newRecord)
  return {
    records,
    events: records.filter(({ seq }) => seq !== undefined).length,
    bytes: records.reduce((sum, { body }) => sum + body.length, 0),
    updatedAtMs: batch.at(-1)?.atMs,
    preview: preview === undefined ? null : textColumn(preview),
    previewFolded: preview === undefined ? null : folded(preview),
  }
}
