/** What PostgreSQL and SQLite write differently. Everything else of the store is the same for both. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"

/** Fragments of one database. */
export interface Dialect {
  readonly isPostgres: boolean
  /** The time of the database in milliseconds since the epoch, when the statement runs. */
  readonly nowMs: Fragment
  /** A random text that the database makes. */
  readonly newToken: Fragment
  /** Locks the row of the conversation, named `c`, until the transaction ends. */
  readonly lockConversation: Fragment
  /** Excludes other removals of conversations until the transaction ends. */
  readonly lockRemovals: Effect.Effect<void, SqlError>
  /** Excludes other takers of places of that kind and owner until the transaction ends. */
  readonly lockPlaces: (kind: string, owner: string) => Effect.Effect<void, SqlError>
  /** Number of the period of that length in which the statement runs, by the clock of the database. */
  readonly periodOf: (lengthMs: number) => Fragment
  /** The condition that the column has the text in it, literally. */
  readonly contains: (column: string, text: string) => Fragment
}

/** Of the advisory locks of the database, the one for removals. */
const removals = 7_265_501

/** Of the advisory locks of two numbers, those for places; the second number depends on the owner. */
const takers = 7_265_502

/** The time of the database in milliseconds since the epoch, when the statement runs. */
const postgresNow = "(extract(epoch from clock_timestamp()) * 1000)::double precision"
/** Rounded, because the product of many a time is a fraction less than the whole number of its milliseconds. */
const sqliteNow = "round(unixepoch('subsec') * 1000.0)"

const postgres = (sql: SqlClient): Dialect => ({
  isPostgres: true,
  nowMs: sql.literal(postgresNow),
  newToken: sql.literal("gen_random_uuid()::text"),
  lockConversation: sql.literal("FOR UPDATE OF c"),
  lockRemovals: Effect.asVoid(
    sql`SELECT 1 FROM (SELECT pg_advisory_xact_lock(${removals})) AS taken`,
  ),
  lockPlaces: (kind, owner) =>
    Effect.asVoid(
      sql`SELECT 1 FROM (SELECT pg_advisory_xact_lock(${takers}, hashtext(${`${kind} ${owner}`}))) AS taken`,
    ),
  periodOf: (lengthMs) => sql`floor(${sql.literal(postgresNow)} / ${lengthMs}::double precision)`,
  contains: (column, text) => sql`strpos(${sql.literal(column)}, ${text}) > 0`,
})

const sqlite = (sql: SqlClient): Dialect => ({
  isPostgres: false,
  nowMs: sql.literal(sqliteNow),
  newToken: sql.literal("lower(hex(randomblob(16)))"),
  // A transaction has the lock of the whole file.
  lockConversation: sql.literal(""),
  lockRemovals: Effect.void,
  lockPlaces: () => Effect.void,
  periodOf: (lengthMs) => sql`CAST(${sql.literal(sqliteNow)} / ${lengthMs} AS INTEGER)`,
  contains: (column, text) => sql`instr(${sql.literal(column)}, ${text}) > 0`,
})

/** The dialect of a client. */
export const dialectOf = (sql: SqlClient): Dialect =>
  sql.onDialectOrElse({ pg: () => postgres(sql), orElse: () => sqlite(sql) })
