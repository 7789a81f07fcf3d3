/** Adds rows to a log. PostgreSQL takes a batch in one statement; SQLite, which is in the process, takes them one by one. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Dialect } from "./Dialect.ts"
import type { NewRecord } from "./Rows.ts"

/** Where rows are added. */
export interface Place {
  readonly log: number
  /** Position of the first row. */
  readonly position: number
  /** Generation of the writer. */
  readonly generation: number
}

/**
 * The statement that adds a batch in PostgreSQL.
 *
 * @param from relation with the column `log`, of one row, or of none to add nothing
 */
export const insertBatch = (
  sql: SqlClient,
  from: Fragment,
  { generation, position }: Omit<Place, "log">,
  records: ReadonlyArray<NewRecord>,
): Fragment => {
  // Numbers as texts: the values of an array have one type, and a JSON number may be any of three.
  const seqs = records.map(({ seq }) => (seq === undefined ? "" : String(seq)))
  const times = records.map(({ atMs }) => String(atMs))
  const bodies = records.map(({ body }) => body)
  return sql`INSERT INTO colloquy_records (log, position, seq, at_ms, generation, size, body)
    SELECT place.log, ${position} + r.n::integer - 1, nullif(r.seq, '')::integer, r.at_ms::double precision,
      ${generation}, length(r.body), r.body
    FROM ${from} AS place,
      unnest(${seqs}::text[], ${times}::text[], ${bodies}::text[]) WITH ORDINALITY AS r(seq, at_ms, body, n)`
}

const insertOne = (sql: SqlClient, { generation, log, position }: Place, record: NewRecord) =>
  sql`INSERT INTO colloquy_records (log, position, seq, at_ms, generation, size, body)
    VALUES (${log}, ${position}, ${record.seq ?? null}, ${record.atMs}, ${generation},
      ${record.body.length}, ${record.body})`

/** Adds the records, in the transaction that is open. */
export const insertRecords = (
  sql: SqlClient,
  { isPostgres }: Dialect,
  place: Place,
  records: ReadonlyArray<NewRecord>,
): Effect.Effect<void, SqlError> => {
  if (records.length === 0) return Effect.void
  return isPostgres
    ? Effect.asVoid(
        sql`${insertBatch(sql, sql`(SELECT ${place.log}::integer AS log)`, place, records)}`,
      )
    : Effect.forEach(
        records,
        (record, i) => insertOne(sql, { ...place, position: place.position + i }, record),
        { discard: true },
      )
}
