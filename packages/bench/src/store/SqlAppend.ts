/**
 * The rate of appends to a log in a database, beside the floor: the same rows added by plain INSERT statements through the
 * same client, as many rows to a transaction, without a lease, a length and the row of a conversation. Both are taken in turn.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import * as PostgresStore from "@colloquy/store-sql/node/PostgresStore"
import * as SqliteStore from "@colloquy/store-sql/node/SqliteStore"
import { PostgresServer } from "@colloquy/testing/PostgresServer"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { batch, home, metaOf } from "./Setting.ts"

/** Sizes of the measurement. */
export interface SqlAppendSizes {
  readonly database: "sqlite" | "postgres"
  readonly events: number
  /** Events per append. */
  readonly perBatch: number
  readonly runs: number
}

/** The result. */
export interface SqlAppendFigure {
  /** Events per second, per run in order. */
  readonly perSecond: ReadonlyArray<number>
  /** Rows per second of the plain statements. */
  readonly insertsPerSecond: ReadonlyArray<number>
  /** Bytes of an event in the tables and indexes of the store. */
  readonly bytesEach: number
}

type Batches = ReadonlyArray<ReadonlyArray<LogRecord>>

/** One database: the layer of the store, and what is measured beside it. */
interface Subject {
  readonly store: Layer.Layer<ConversationStore>
  /** Adds the rows of the batches to another table, under this number of a log. */
  readonly insert: (log: number, batches: Batches) => Effect.Effect<void>
  /** Bytes of the tables of the store. */
  readonly bytes: () => number
}

const columns = "(log integer, position integer, seq integer, at_ms float, size integer, body text"

const rowsOf = (log: number, position: number, records: ReadonlyArray<LogRecord>) =>
  records.map((record, i) => {
    const body = JSON.stringify(record)
    const seq = record._tag === "Event" ? record.event.seq : 0
    return [log, position + i, seq, record.atMs, body.length, body] as const
  })

const sqlite = Effect.gen(function* () {
  const folder = yield* home
  const file = join(folder, "store.sqlite")
  const plain = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const database = new DatabaseSync(join(folder, "plain.sqlite"))
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      database.exec(`CREATE TABLE plain ${columns}, PRIMARY KEY (log, position))`)
      return database
    }),
    (database) => Effect.sync(() => database.close()),
  )
  const statement = plain.prepare("INSERT INTO plain VALUES (?, ?, ?, ?, ?, ?)")
  const insert = (log: number, batches: Batches) =>
    Effect.sync(() => {
      let position = 0
      for (const records of batches) {
        plain.exec("BEGIN IMMEDIATE")
        for (const row of rowsOf(log, position, records)) statement.run(...row)
        plain.exec("COMMIT")
        position += records.length
      }
    })
  const store = Layer.orDie(SqliteStore.layer({ file }))
  const bytes = () => {
    const database = new DatabaseSync(file)
    // With the pages that are in the journal still.
    const { size } = database
      .prepare("SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size")
      .get() as { readonly size: number }
    database.close()
    return size
  }
  return { store, insert, bytes } satisfies Subject
})

const postgres = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = new PostgresServer()
      started.start()
      return started
    }),
    (started) => Effect.sync(() => started.remove()),
  )
  const database = Redacted.make(server.database("bench"))
  const client = yield* Layer.build(PgClient.layer({ url: database, maxConnections: 1 }))
  const insert = (log: number, batches: Batches) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      let position = 0
      for (const records of batches) {
        const rows = rowsOf(log, position, records)
        const places = rows.map((row, i) => `(${row.map((_, j) => `$${i * 6 + j + 1}`).join()})`)
        yield* sql.unsafe(`INSERT INTO plain VALUES ${places.join()}`, rows.flat())
        position += records.length
      }
    }).pipe(Effect.provideContext(client), Effect.orDie)
  server.sql(`CREATE TABLE plain ${columns}, PRIMARY KEY (log, position))`, "bench")
  const bytes = () =>
    Number(server.sql("SELECT pg_total_relation_size('colloquy_records')", "bench"))
  const store = Layer.orDie(PostgresStore.layer({ database }))
  return { store, insert, bytes } satisfies Subject
})

const rateOf = <E, R>(count: number, effect: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const startedAtMs = performance.now()
    yield* effect
    return (count / (performance.now() - startedAtMs)) * 1000
  })

const measured = Effect.fnUntraced(function* (
  { events, perBatch, runs }: SqlAppendSizes,
  { bytes, insert }: Subject,
) {
  const store = yield* ConversationStore
  const perSecond: Array<number> = []
  const insertsPerSecond: Array<number> = []
  const batches = Array.from({ length: Math.ceil(events / perBatch) }, (_, i) =>
    batch(i * perBatch, perBatch),
  )
  const count = batches.length * perBatch
  for (let run = 0; run < runs; run++) {
    const writer = yield* store.create(metaOf(run), [])
    const appends = Effect.forEach(batches, (records) => writer.append(records, "synced"), {
      discard: true,
    })
    perSecond.push(yield* rateOf(count, appends))
    insertsPerSecond.push(yield* rateOf(count, insert(run, batches)))
  }
  return { perSecond, insertsPerSecond, bytesEach: bytes() / (count * runs) }
})

/** Measures one database and one batch size. */
export const sqlAppend = (sizes: SqlAppendSizes): Effect.Effect<SqlAppendFigure> =>
  Effect.gen(function* () {
    const subject: Subject = yield* sizes.database === "sqlite" ? sqlite : postgres
    return yield* measured(sizes, subject).pipe(Effect.provide(subject.store))
  }).pipe(Effect.scoped, Effect.orDie)
