/** Logs, forks and tables in the database: both databases must pass each case. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { eventRecord, type LogRecord } from "@colloquy/core/LogRecord"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lastMigration } from "../../src/Migrations.ts"
import { removeOld } from "../../src/Retention.ts"
import { type Case, caseOf } from "./Cases.ts"
import { readAll } from "./ReadAll.ts"
import { firstRecords, messages, metaOf } from "./Records.ts"
import { processOf, storeOf, withSql, type World } from "./Worlds.ts"

type Store = ConversationStore["Service"]

const meta = metaOf(1)
const { id } = meta

const recordsOf = (store: Store, id: ConversationId, max?: number) =>
  readAll(id, max).pipe(Effect.provideService(ConversationStore, store))

const count = (world: World, table: string) =>
  withSql(world, (sql) =>
    Effect.map(
      sql<{ readonly n: number | bigint }>`SELECT count(*) AS n FROM ${sql(table)}`,
      ([row]) => Number(row?.n),
    ),
  )

const create = (store: Store, of: typeof meta, records: ReadonlyArray<LogRecord>) =>
  Effect.asVoid(Effect.scoped(store.create(of, records)))

/**
 * The log of a fork as core makes it: its own first event, then events of the original.
 *
 * @param atMs the time of all of them, as earlier versions made forks; by default they keep their times
 */
const forkLog = (number: number, records: ReadonlyArray<LogRecord>, atMs?: number) => [
  ...firstRecords(metaOf(number)),
  ...records.flatMap((r, i) =>
    r._tag === "Event" ? [eventRecord(atMs ?? r.atMs, { ...r.event, seq: i + 1 })] : [],
  ),
]

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) =>
    typeof error === "object" && error !== null && "reason" in error ? error.reason : error,
  )

const forks = ([times, firstMs, secondMs]: readonly [string, (number | undefined)?, number?]) =>
  caseOf(
    `a fork ${times} adds no rows for events that it has from the original, reads as if it had them, and keeps them when the original is deleted`,
    (world) => forking(world, firstMs, secondMs),
  )

const forking = (world: World, firstMs: number | undefined, secondMs: number | undefined) =>
  Effect.gen(function* () {
    const store = yield* storeOf(world)
    const original = messages(1, 101)
    yield* create(store, meta, [...firstRecords(meta), ...original])
    // The fork leaves out one event, so that later ones have other numbers.
    const kept = [...original.slice(0, 40), ...original.slice(41, 90)]
    const fork = metaOf(2, { forkedFrom: id })
    const log = forkLog(2, kept, firstMs)
    const before = yield* count(world, "colloquy_records")
    const writer = yield* store.create(fork, log)
    assert.strictEqual((yield* count(world, "colloquy_records")) - before, 1)
    const more = messages(90, 95)
    yield* writer.append(more, "synced")
    const whole = [...log, ...more]
    for (const max of [1, 7, 1000]) {
      assert.deepStrictEqual(yield* recordsOf(store, fork.id, max), whole)
    }
    for (const seq of [0, 1, 40, 41, 89, 90, 94]) {
      assert.strictEqual(yield* store.positionOf(fork.id, seq), seq)
    }
    assert.isUndefined(yield* store.positionOf(fork.id, 95))
    const back = yield* store.readBackward(fork.id, { before: 45, max: 10 })
    assert.deepStrictEqual(back, { records: whole.slice(35, 45), next: 35 })
    // A fork of the fork refers to the rows of both.
    const second = metaOf(3, { forkedFrom: fork.id })
    const secondLog = forkLog(3, whole.slice(1), secondMs)
    yield* create(store, second, secondLog)
    assert.deepStrictEqual(yield* recordsOf(store, second.id, 9), secondLog)
    yield* store.delete(id)
    // Of the original those rows are left that a fork has.
    assert.strictEqual(yield* count(world, "colloquy_records"), 89 + 6 + 6)
    assert.deepStrictEqual(yield* recordsOf(store, fork.id), whole)
    assert.deepStrictEqual(yield* recordsOf(store, second.id), secondLog)
    yield* store.delete(second.id)
    assert.deepStrictEqual(yield* recordsOf(store, fork.id), whole)
  })

const earlierForks = caseOf("the forks of version 2 of the tables read as before", (world) =>
  Effect.gen(function* () {
    const original = messages(1, 50)
    const fork = metaOf(2, { forkedFrom: id })
    const log = forkLog(2, original, 5_000_000)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const store = yield* storeOf(world)
        yield* create(store, meta, [...firstRecords(meta), ...original])
        yield* create(store, fork, log)
      }),
    )
    yield* withSql(world, (sql) =>
      Effect.all([
        sql`ALTER TABLE colloquy_shares DROP COLUMN own_times`,
        sql`DELETE FROM colloquy_migrations WHERE migration_id > 2`,
      ]),
    )
    const store = yield* storeOf(world)
    assert.deepStrictEqual(yield* recordsOf(store, fork.id), log)
  }),
)

const forksDeleted = caseOf(
  "the last of the conversations that share rows takes them with it",
  (world) =>
    Effect.gen(function* () {
      const store = yield* storeOf(world)
      const original = messages(1, 50)
      yield* create(store, meta, [...firstRecords(meta), ...original])
      for (const [number, atMs] of [[2], [3, 1]] as const) {
        yield* create(store, metaOf(number, { forkedFrom: id }), forkLog(number, original, atMs))
      }
      yield* store.delete(metaOf(2).id)
      yield* store.delete(id)
      yield* store.delete(metaOf(3).id)
      assert.strictEqual(yield* count(world, "colloquy_records"), 0)
      assert.strictEqual(yield* count(world, "colloquy_shares"), 0)
    }),
)

const migratedTogether = caseOf(
  "several programs that start at once on an empty database bring it up to date once",
  (world) =>
    Effect.gen(function* () {
      const listed = Effect.flatMap(ConversationStore, (store) => store.list({ limit: 1 }))
      const all = Array.from({ length: 4 }, () => listed.pipe(Effect.provide(processOf(world))))
      const pages = yield* Effect.all(all, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        pages.map(({ items }) => items.length),
        [0, 0, 0, 0],
      )
      assert.strictEqual(yield* count(world, "colloquy_migrations"), lastMigration)
    }),
)

const newer = caseOf(
  "tables of a later version are an error that names both versions, and stay as they are",
  (world) =>
    Effect.gen(function* () {
      yield* Effect.scoped(Layer.build(processOf(world)))
      yield* withSql(
        world,
        (sql) => sql`INSERT INTO colloquy_migrations (migration_id, name) VALUES (77, 'later')`,
      )
      const error = yield* Effect.flip(Effect.scoped(Layer.build(processOf(world))))
      assert.strictEqual(error._tag, "SchemaTooNew")
      assert.include(error.message, "version 77")
      assert.include(error.message, `up to ${lastMigration}`)
      assert.strictEqual(yield* count(world, "colloquy_migrations"), lastMigration + 1)
    }),
)

const reverted = caseOf(
  "L16 a writer gets an error, and leaves no gap, when the database went back to an earlier state",
  (world) =>
    Effect.gen(function* () {
      const store = yield* storeOf(world)
      yield* create(store, meta, firstRecords(meta))
      const [first, second] = [metaOf(2), metaOf(3)]
      const shortened = yield* store.create(first, firstRecords(first))
      yield* shortened.append(messages(1, 10), "synced")
      yield* create(store, second, firstRecords(second))
      const { writer: older } = yield* store.open({ id: second.id })
      yield* older.append(messages(1, 10), "synced")
      yield* withSql(world, (sql) =>
        Effect.all([
          sql`DELETE FROM colloquy_records WHERE position > 4`,
          sql`UPDATE colloquy_conversations SET length = 5 WHERE length > 5`,
          sql`UPDATE colloquy_conversations SET generation = 1 WHERE generation > 1`,
        ]),
      )
      for (const writer of [shortened, older]) {
        assert.strictEqual(yield* reasonOf(writer.append(messages(10, 11), "synced")), "Reverted")
      }
      const records = yield* recordsOf(store, first.id)
      assert.deepStrictEqual(records, [...firstRecords(first), ...messages(1, 5)])
    }),
)

const damaged = caseOf(
  "a log of which a record is missing, or cannot be read, is an error that names the record",
  (world) =>
    Effect.gen(function* () {
      const store = yield* storeOf(world)
      for (const number of [1, 2]) {
        const one = metaOf(number)
        yield* create(store, one, [...firstRecords(one), ...messages(1, 10)])
      }
      yield* withSql(world, (sql) =>
        Effect.all([
          sql`DELETE FROM colloquy_records WHERE log = 1 AND position = 4`,
          sql`UPDATE colloquy_records SET body = '{"id":' WHERE log = 2 AND position = 6`,
        ]),
      )
      for (const [number, position] of [
        [1, 4],
        [2, 6],
      ] as const) {
        const error = yield* Effect.flip(recordsOf(store, metaOf(number).id))
        assert.strictEqual(error._tag === "StoreError" ? error.reason : error._tag, "Damaged")
        assert.include(error.message, `record ${position} `)
      }
    }),
)

const strange = caseOf(
  "texts that a database cannot keep are stored and found all the same",
  (world) =>
    Effect.gen(function* () {
      const store = yield* storeOf(world)
      const odd = 'a\0b "\ud800" \\ é'
      const of = metaOf(1, { cwd: `/${odd}`, owner: odd, provider: `"${odd}`, instructions: odd })
      const said = eventRecord(1, {
        seq: 1,
        id: odd,
        msg: { type: "user_message", message: `Said\0 ${odd}`, kind: "plain" },
      })
      const log = [...firstRecords(of), said]
      yield* create(store, of, log)
      yield* store.rename(of.id, odd)
      assert.deepStrictEqual(yield* recordsOf(store, of.id), log)
      const summary = yield* store.metadata(of)
      assert.deepStrictEqual(summary.meta, of)
      assert.strictEqual(summary.name, odd)
      assert.strictEqual(summary.preview, `Said\0 ${odd}`.toWellFormed())
      const { cwd, owner, provider } = of
      for (const query of [
        { cwd },
        { owner: owner ?? null },
        { provider: provider ?? "" },
        { text: "said\0" },
      ]) {
        const { items } = yield* store.list({ limit: 5, ...query })
        assert.strictEqual(items.length, 1, JSON.stringify(query))
      }
      assert.deepStrictEqual((yield* store.list({ limit: 5, owner: "a" })).items, [])
    }),
)

const bounded = caseOf(
  "a page ends early when its records are long, and a log at its limit takes nothing more",
  (world) =>
    Effect.gen(function* () {
      // A lease ends by the clock of the machine, which a slow disk takes more of than the default.
      const store = yield* storeOf(world, { maxEvents: 12, leaseFor: Duration.minutes(10) })
      const text = "x".repeat(3 * 1024 * 1024)
      const writer = yield* store.create(meta, firstRecords(meta))
      yield* writer.append(messages(1, 9, { text }), "synced")
      const page = yield* store.read(id, { max: 100 })
      assert.strictEqual(page.records.length, 4)
      assert.strictEqual(page.next, 4)
      assert.strictEqual((yield* recordsOf(store, id)).length, 9)
      const back = yield* store.readBackward(id, { max: 100 })
      assert.deepStrictEqual([back.records.length, back.next], [3, 6])
      const error = yield* Effect.flip(writer.append(messages(9, 13), "synced"))
      assert.strictEqual(error._tag, "StoreLimit")
      yield* writer.append(messages(9, 12), "synced")
      assert.strictEqual((yield* recordsOf(store, id)).length, 12)
    }),
)

const retention = caseOf(
  "retention removes old conversations, archived ones only if so asked, and none in use",
  (world) =>
    Effect.gen(function* () {
      const store = yield* storeOf(world)
      const remove = (archivedOnly: boolean) =>
        removeOld({ updatedBeforeMs: 1000, archivedOnly }).pipe(
          Effect.provideService(ConversationStore, store),
        )
      for (const [number, atMs] of [10, 2000, 20, 30, 40].entries()) {
        const of = metaOf(number)
        yield* create(store, of, messages(0, 1, { atMs }))
      }
      yield* store.archive(metaOf(2).id)
      yield* store.open({ id: metaOf(3).id })
      assert.strictEqual(yield* remove(true), 1)
      assert.strictEqual(yield* remove(false), 2)
      const { items } = yield* store.list({ limit: 9 })
      assert.deepStrictEqual(
        items.map((item) => item.meta.id),
        [metaOf(3).id, metaOf(1).id],
      )
    }),
)

export const logCases: ReadonlyArray<Case> = [
  forks(["at the times of the original"]),
  forks(["at one time, as earlier versions made it,", 5_000_000, 6_000_000]),
  forks(["with a fork of its own at another time", undefined, 6_000_000]),
  forks(["at one time, with a fork that keeps the times,", 5_000_000]),
  earlierForks,
  forksDeleted,
  migratedTogether,
  newer,
  reverted,
  damaged,
  strange,
  bounded,
  retention,
]
