/** Reads pages of a log, the events that it shares with other logs included. */
import type { Position, RecordPage } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type LogRow, type RecordRow, recordOf } from "./Rows.ts"

/** A page ends early when its bodies have this many UTF-16 code units. */
const pageSize = 8 * 1024 * 1024

/** The records of a log from one position up to another, as a relation of `RecordRow` with `size`. */
const recordsBetween = (
  sql: SqlClient,
  { log, shares }: LogRow,
  from: Position,
  to: Position,
): Fragment => {
  const own = sql`SELECT position, seq, at_ms, size, body FROM colloquy_records
    WHERE log = ${log} AND position >= ${from} AND position < ${to}`
  if (shares === 0) return own
  return sql`${own} UNION ALL
    SELECT s.position + r.seq - s.source_seq, s.seq + r.seq - s.source_seq,
      CASE s.own_times WHEN 1 THEN r.at_ms ELSE s.at_ms END, r.size, r.body
    FROM colloquy_shares AS s JOIN colloquy_records AS r ON r.log = s.source
      AND r.seq >= s.source_seq AND r.seq < s.source_seq + s.events
      AND r.seq >= s.source_seq + ${from} - s.position AND r.seq < s.source_seq + ${to} - s.position
    WHERE s.log = ${log}`
}

/** The rows of a range, from one end of it, until they have `pageSize`. At least one row if there is any. */
const rowsBetween = (
  sql: SqlClient,
  row: LogRow,
  from: Position,
  to: Position,
  order: "ASC" | "DESC",
): Effect.Effect<ReadonlyArray<RecordRow>, SqlError> => {
  const by = sql.literal(`position ${order}`)
  return sql<RecordRow>`SELECT position, seq, at_ms, body FROM (
      SELECT position, seq, at_ms, body, size, sum(size) OVER (ORDER BY ${by}) AS until
      FROM (${recordsBetween(sql, row, from, to)}) AS records
    ) AS measured WHERE until - size < ${pageSize} ORDER BY ${by}`
}

const damaged = (position: number, what: string): Effect.Effect<never, StoreError> =>
  Effect.fail(
    new StoreError({
      operation: "read",
      reason: "Damaged",
      message: `record ${position} of the log ${what}`,
    }),
  )

/** Decodes rows that must be those from a position on, in order. */
const decodeRows = (
  rows: ReadonlyArray<RecordRow>,
  first: Position,
): Effect.Effect<ReadonlyArray<LogRecord>, StoreError> =>
  Effect.suspend(() => {
    const records: Array<LogRecord> = []
    for (const [i, row] of rows.entries()) {
      if (row.position !== first + i) return damaged(first + i, "is missing")
      const record = recordOf(row)
      if (record === undefined) return damaged(row.position, "cannot be read")
      records.push(record)
    }
    return Effect.succeed(records)
  })

/** At most `max` records from a position on. */
export const readForward = (
  sql: SqlClient,
  row: LogRow,
  from: Position,
  max: number,
): Effect.Effect<RecordPage, SqlError | StoreError> =>
  Effect.gen(function* () {
    const end = Math.min(from + max, row.length)
    if (from >= end) return { records: [] }
    const rows = yield* rowsBetween(sql, row, from, end, "ASC")
    if (rows.length === 0) return yield* damaged(from, "is missing")
    const records = yield* decodeRows(rows, from)
    const next = from + rows.length
    return { records, ...(next < row.length ? { next } : {}) }
  })

/** At most `max` records before a position, in the order of the log. */
export const readBackward = (
  sql: SqlClient,
  row: LogRow,
  before: Position,
  max: number,
): Effect.Effect<RecordPage, SqlError | StoreError> =>
  Effect.gen(function* () {
    const end = Math.min(before, row.length)
    const start = Math.max(0, end - max)
    if (start >= end) return { records: [] }
    const rows = yield* rowsBetween(sql, row, start, end, "DESC")
    if (rows.length === 0) return yield* damaged(end - 1, "is missing")
    const next = end - rows.length
    const records = yield* decodeRows(rows.toReversed(), next)
    return { records, ...(next > 0 ? { next } : {}) }
  })

/** The position of the record of an event; undefined when the log has no such event. */
export const positionOf = (
  sql: SqlClient,
  { log, shares }: LogRow,
  seq: number,
): Effect.Effect<Position | undefined, SqlError> => {
  const own = sql`SELECT position FROM colloquy_records WHERE log = ${log} AND seq = ${seq}`
  const found =
    shares === 0
      ? own
      : sql`${own} UNION ALL SELECT position + ${seq} - seq AS position FROM colloquy_shares
          WHERE log = ${log} AND seq <= ${seq} AND ${seq} < seq + events`
  return Effect.map(sql<{ readonly position: number }>`${found}`, ([row]) => row?.position)
}
