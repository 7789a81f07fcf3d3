/**
 * Forks by reference: which events of a new log are rows of the log that it was forked from. A fork keeps the events of the
 * original in their order, mostly under the same numbers, and their times; those that earlier versions made have another
 * time for all of them.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { eventBody, type LogRow, type NewRecord, recordOf } from "./Rows.ts"

/** One event of the log that was forked, with the row that has it. */
export interface SourceEvent {
  /** Log that has the row, and number of the event there. */
  readonly source: number
  readonly sourceSeq: number
  /** Time of the row. */
  readonly atMs: number
  readonly body: string
}

/** Events of a new log that are rows of another one. */
export interface Share {
  /** Position and number of the first event in the new log. */
  readonly position: number
  readonly seq: number
  readonly events: number
  /** True: each event has the time of its row. False: `atMs` is the time of all. */
  readonly ownTimes: boolean
  readonly atMs: number
  readonly source: number
  readonly sourceSeq: number
}

/** A share costs a row as well, and each one more work for every page. */
const minEvents = 8

/** How many events of the original may be left out between two that a fork has. */
const maxSkipped = 1000

/** All events of a log, in order. */
export const sourceEvents = (
  sql: SqlClient,
  { log, shares }: LogRow,
): Effect.Effect<ReadonlyArray<SourceEvent>, SqlError> => {
  const own = sql`SELECT seq AS at, log AS source, seq AS "sourceSeq", at_ms AS "atMs", body
    FROM colloquy_records
    WHERE log = ${log} AND seq IS NOT NULL`
  const all =
    shares === 0
      ? own
      : sql`${own} UNION ALL SELECT s.seq + r.seq - s.source_seq, r.log, r.seq, r.at_ms, r.body
          FROM colloquy_shares AS s JOIN colloquy_records AS r ON r.log = s.source
            AND r.seq >= s.source_seq AND r.seq < s.source_seq + s.events
          WHERE s.log = ${log}`
  return sql<SourceEvent>`SELECT source, "sourceSeq", "atMs", body FROM (${all}) AS events ORDER BY at`
}

/** The body as a program writes it that has read the event; its members may be in another order. */
const readBody = ({ body }: SourceEvent): string | undefined => {
  const record = recordOf({ position: 0, seq: 0, at_ms: 0, body })
  return record?._tag === "Event" ? eventBody(record.event) : undefined
}

const isSame = (event: SourceEvent | undefined, body: string): boolean =>
  event !== undefined &&
  (event.body === body || (event.body.length === body.length && readBody(event) === body))

/** Where the event of a new log is in the original, at or behind a place; -1 when it is not. */
const find = (events: ReadonlyArray<SourceEvent>, from: number, body: string): number => {
  const end = Math.min(events.length, from + maxSkipped)
  for (let at = from; at < end; at++) if (isSame(events[at], body)) return at
  return -1
}

/** True when the event continues the share. */
const continues = (share: Share, position: number, record: NewRecord, event: SourceEvent) =>
  share.position + share.events === position &&
  share.seq + share.events === record.seq &&
  (share.ownTimes ? event.atMs === record.atMs : share.atMs === record.atMs) &&
  share.source === event.source &&
  share.sourceSeq + share.events === event.sourceSeq

/** The shares of a new log with these records. */
export const sharesOf = (
  records: ReadonlyArray<NewRecord>,
  events: ReadonlyArray<SourceEvent>,
): ReadonlyArray<Share> => {
  const shares: Array<Share> = []
  let next = 0
  for (const [position, record] of records.entries()) {
    const at = record.seq === undefined ? -1 : find(events, next, record.body)
    const event = events[at]
    if (record.seq === undefined || event === undefined) continue
    next = at + 1
    const last = shares.at(-1)
    if (last !== undefined && continues(last, position, record, event)) {
      shares[shares.length - 1] = { ...last, events: last.events + 1 }
      continue
    }
    const { atMs, seq } = record
    const { source, sourceSeq } = event
    const ownTimes = event.atMs === atMs
    shares.push({ position, seq, events: 1, ownTimes, atMs, source, sourceSeq })
  }
  return shares.filter((share) => share.events >= minEvents)
}

/** The runs of records that no share has, with their positions. */
export const ownRuns = (
  records: ReadonlyArray<NewRecord>,
  shares: ReadonlyArray<Share>,
): ReadonlyArray<{ readonly position: number; readonly records: ReadonlyArray<NewRecord> }> => {
  const runs = []
  let position = 0
  for (const share of shares) {
    runs.push({ position, records: records.slice(position, share.position) })
    position = share.position + share.events
  }
  runs.push({ position, records: records.slice(position) })
  return runs.filter((run) => run.records.length > 0)
}

/** Adds the shares of a log, in the transaction that is open. */
export const insertShares = (
  sql: SqlClient,
  log: number,
  shares: ReadonlyArray<Share>,
): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    shares,
    ({ atMs, events, ownTimes, position, seq, source, sourceSeq }) =>
      sql`INSERT INTO colloquy_shares (log, position, seq, events, at_ms, own_times, source, source_seq)
        VALUES (${log}, ${position}, ${seq}, ${events}, ${atMs}, ${ownTimes ? 1 : 0}, ${source}, ${sourceSeq})`,
    { discard: true },
  )

/**
 * Removes the rows of these logs that neither a conversation nor a fork has any more. The caller has excluded other
 * removals.
 */
export const removeUnused = (
  sql: SqlClient,
  logs: ReadonlyArray<number>,
): Effect.Effect<void, SqlError> =>
  Effect.asVoid(sql`DELETE FROM colloquy_records WHERE ${sql.in("log", logs)}
    AND NOT EXISTS (SELECT 1 FROM colloquy_conversations AS c WHERE c.log = colloquy_records.log)
    AND NOT EXISTS (SELECT 1 FROM colloquy_shares AS s WHERE s.source = colloquy_records.log
      AND colloquy_records.seq >= s.source_seq AND colloquy_records.seq < s.source_seq + s.events)`)
