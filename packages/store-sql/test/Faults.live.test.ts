import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import * as PostgresStore from "../src/node/PostgresStore.ts"
import { describeWithPostgres } from "./support/PostgresTests.ts"
import { Proxy } from "./support/Proxy.ts"
import { readAll } from "./support/ReadAll.ts"
import { firstRecords, messages, metaOf } from "./support/Records.ts"
import { Session } from "./support/Session.ts"

type Store = ConversationStore["Service"]
type Options = Omit<PostgresStore.PostgresStoreOptions, "database">

const meta = metaOf(1)
const { id } = meta

const impatient = { attempt: Duration.millis(500), total: Duration.millis(800) }

const storeOf = (database: string, options: Options = {}) =>
  Effect.map(
    Layer.build(
      Layer.fresh(PostgresStore.layer({ ...options, database: Redacted.make(database) })),
    ),
    (context) => Context.get(context, ConversationStore),
  )

const recordsOf = (store: Store, of = id) =>
  readAll(of).pipe(Effect.provideService(ConversationStore, store))

/** A moment in which something else happens; no result depends on how long it is. */
const sleep = (ms: number) => Effect.promise(() => new Promise((done) => setTimeout(done, ms)))

/** The tag of an error, or the reason of a `StoreError`. */
const faultOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, {
    onFailure: (error) => ("reason" in error ? error.reason : error._tag),
    onSuccess: () => "success",
  })

const databaseOf = (address: string): string => new URL(address).pathname.slice(1)

describeWithPostgres("PostgreSQL that fails", (server) => {
  it.live(
    "down at the start: the store waits for it, and says after a time that it cannot be reached",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        server.postgres.stop()
        const refused = storeOf(database, { startWithin: Duration.millis(300) })
        assert.strictEqual(yield* faultOf(Effect.scoped(refused)), "Unreachable")
        const waiting = yield* Effect.forkScoped(storeOf(database))
        yield* sleep(300)
        server.postgres.start()
        const store = yield* Fiber.join(waiting)
        assert.deepStrictEqual(yield* store.list({ limit: 1 }), { items: [] })
      }),
  )

  it.live(
    "L10 gone in mid-operation: an operation whose answer was lost is carried out once, wherever the connection was cut",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => Proxy.start(server.postgres.socket)),
          (one) => Effect.promise(() => one.stop()),
        )
        const store = yield* storeOf(proxy.address(databaseOf(database)), { maxConnections: 1 })
        for (let cut = 1; cut <= 12; cut++) {
          const of = metaOf(cut)
          const log = [...firstRecords(of), ...messages(1, 4)]
          /** Runs the operation with a cut after its n-th request, if it makes so many. */
          const withCut = <A, E, R>(operation: Effect.Effect<A, E, R>) =>
            Effect.andThen(
              Effect.sync(() => proxy.swallowAnswerTo(cut)),
              Effect.tap(operation, () => Effect.sync(() => proxy.pass())),
            )
          yield* Effect.scoped(
            Effect.gen(function* () {
              const writer = yield* withCut(store.create(of, firstRecords(of)))
              yield* withCut(writer.append(messages(1, 2), "synced"))
              yield* writer.append(messages(2, 3), "synced")
            }),
          )
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { writer } = yield* withCut(store.open({ id: of.id }))
              yield* writer.append(messages(3, 4), "synced")
            }),
          )
          assert.deepStrictEqual(yield* withCut(recordsOf(store, of.id)), log)
          yield* withCut(store.rename(of.id, "named"))
          yield* withCut(store.archive(of.id))
          const { items } = yield* withCut(store.list({ limit: 1, archived: true }))
          assert.deepStrictEqual(
            items.map((item) => [item.meta.id, item.name]),
            [[of.id, "named"]],
          )
          // A repetition finds neither the row nor its revision.
          const { revision } = yield* store.metadata(of)
          yield* withCut(store.delete(of.id, revision))
          assert.strictEqual(yield* faultOf(store.metadata(of)), "NoSuchConversation")
        }
        assert.isAbove(proxy.cuts, 20)
      }),
    60_000,
  )

  it.live(
    "L10 L16 crashed and started again under load: what was acknowledged is there once, and the writers go on",
    () =>
      Effect.gen(function* () {
        const store = yield* storeOf(server.newDatabase(), { leaseFor: Duration.seconds(30) })
        const writers = yield* Effect.forEach([1, 2, 3], (number) =>
          Effect.map(store.create(metaOf(number), firstRecords(metaOf(number))), (writer) => ({
            number,
            writer,
            next: 1,
          })),
        )
        const isStopped = { value: false }
        const load = yield* Effect.forEach(
          writers,
          (one) =>
            Effect.gen(function* () {
              while (!isStopped.value) {
                yield* one.writer.append(messages(one.next, one.next + 2), "synced")
                one.next += 2
              }
            }),
          { concurrency: "unbounded" },
        ).pipe(Effect.forkScoped)
        for (let crash = 0; crash < 3; crash++) {
          yield* sleep(150)
          server.postgres.stop("immediate")
          yield* sleep(50)
          server.postgres.start()
        }
        yield* sleep(600)
        isStopped.value = true
        yield* Fiber.join(load)
        for (const { next, number } of writers) {
          assert.isAbove(next, 10)
          const of = metaOf(number)
          const expected = [...firstRecords(of), ...messages(1, next)]
          assert.deepStrictEqual(yield* recordsOf(store, of.id), expected)
        }
      }),
  )

  it.live(
    "gone for long: an append fails in time, and the conversation is opened again afterwards",
    () =>
      Effect.gen(function* () {
        const store = yield* storeOf(server.newDatabase(), { patience: impatient })
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const writer = yield* store.create(meta, firstRecords(meta))
            server.postgres.stop("immediate")
            const fault = yield* faultOf(writer.append(messages(1, 2), "synced"))
            assert.include(["Unreachable", "Slow"], fault)
            const again = yield* faultOf(writer.append(messages(1, 2), "synced"))
            assert.strictEqual(again, fault, "the writer is not used again")
            assert.strictEqual(yield* faultOf(store.list({ limit: 1 })), "Unreachable")
            return writer.generation
            // The lease cannot be released now.
          }),
        )
        server.postgres.start()
        const { writer } = yield* store.open({ id })
        assert.isAbove(writer.generation, before)
        const known = yield* recordsOf(store)
        yield* writer.append(messages(known.length, known.length + 1), "synced")
        assert.deepStrictEqual(yield* recordsOf(store), [
          ...firstRecords(meta),
          ...messages(1, known.length + 1),
        ])
      }),
  )

  it.live(
    "slow: an append waits for its row, fails in time when it does not get it, and is not carried out later",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const store = yield* storeOf(database, { patience: impatient })
        const writer = yield* store.create(meta, firstRecords(meta))
        const other = new Session(server.postgres.folder, databaseOf(database))
        yield* Effect.addFinalizer(() => Effect.promise(() => other.end()))
        const run = (statements: string) => Effect.promise(() => other.run(statements))
        const lock = run("BEGIN; SELECT 1 FROM colloquy_conversations FOR UPDATE")
        yield* lock
        const waiting = yield* Effect.forkChild(writer.append(messages(1, 2), "synced"))
        yield* sleep(100)
        yield* run("COMMIT")
        yield* Fiber.join(waiting)
        yield* lock
        assert.strictEqual(yield* faultOf(writer.append(messages(2, 3), "synced")), "Slow")
        yield* run("COMMIT")
        yield* sleep(100)
        const records = yield* recordsOf(store)
        assert.deepStrictEqual(records, [...firstRecords(meta), ...messages(1, 2)])
      }),
  )

  it.live("the end of a store does not wait for a lock on its leases: they expire instead", () =>
    Effect.gen(function* () {
      const database = server.newDatabase()
      const other = new Session(server.postgres.folder, databaseOf(database))
      yield* Effect.addFinalizer(() => Effect.promise(() => other.end()))
      const leaseFor = Duration.millis(900)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* storeOf(database, { leaseFor })
          yield* store.create(meta, firstRecords(meta))
          yield* Effect.promise(() =>
            other.run(
              "BEGIN; SELECT 1 FROM colloquy_holders FOR UPDATE; SELECT 1 FROM colloquy_conversations FOR UPDATE",
            ),
          )
        }),
      )
      yield* Effect.promise(() => other.run("COMMIT"))
      yield* sleep(1200)
      const { writer } = yield* (yield* storeOf(database)).open({ id })
      yield* writer.append(messages(1, 2), "synced")
    }),
  )

  it.live("read-only: a change is denied with a reason, and reading goes on", () =>
    Effect.gen(function* () {
      const database = server.newDatabase()
      const store = yield* storeOf(database)
      const writer = yield* store.create(meta, firstRecords(meta))
      const setReadOnly = (value: string) => {
        server.postgres.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
        server.postgres.sql("SELECT pg_reload_conf()")
      }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() =>
          server.postgres.sql([
            "SET default_transaction_read_only = off",
            "ALTER SYSTEM RESET default_transaction_read_only",
            "SELECT pg_reload_conf()",
          ]),
        ),
      )
      setReadOnly("on")
      // The server's processes read their settings a moment later.
      while ((yield* faultOf(store.rename(id, "name"))) === "success") yield* sleep(20)
      assert.strictEqual(yield* faultOf(store.rename(id, "name")), "Denied")
      assert.strictEqual(yield* faultOf(writer.append(messages(1, 2), "synced")), "Denied")
      assert.deepStrictEqual(yield* recordsOf(store), firstRecords(meta))
      // A store that starts now reads as well.
      const reader = yield* storeOf(database)
      assert.deepStrictEqual(yield* recordsOf(reader), firstRecords(meta))
      const of = metaOf(2)
      assert.strictEqual(yield* faultOf(reader.create(of, firstRecords(of))), "Denied")
    }),
  )
})

describeWithPostgres("PostgreSQL with another encoding than UTF-8", (server) => {
  it.live("is refused at the start, before it has any table", () =>
    Effect.gen(function* () {
      const database = new URL(server.newDatabase())
      const options = "ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
      server.postgres.sql(`CREATE DATABASE latin ${options}`)
      database.pathname = "latin"
      const refused = yield* Effect.flip(Effect.scoped(storeOf(database.href)))
      assert.strictEqual(refused.message, "the database has the encoding LATIN1; expected UTF8")
      assert.strictEqual(
        server.postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", "latin"),
        "0",
      )
    }),
  )
})

describeWithPostgres(
  "PostgreSQL with few connections",
  (server) => {
    it.live(
      "out of connections: an operation waits for one, and says after a time that there is none",
      () =>
        Effect.gen(function* () {
          const database = server.newDatabase()
          const store = yield* storeOf(database, { patience: impatient, maxConnections: 1 })
          yield* store.list({ limit: 1 })
          const others: Array<Session> = []
          for (let isFull = false; !isFull;) {
            const one = new Session(server.postgres.folder, "postgres")
            isFull = !(yield* Effect.promise(() => one.run("SELECT 1")))
            others.push(one)
          }
          const late = storeOf(database, { startWithin: Duration.millis(200) })
          assert.strictEqual(yield* faultOf(Effect.scoped(late)), "Exhausted")
          // A connection that is there is used.
          assert.deepStrictEqual(yield* store.list({ limit: 1 }), { items: [] })
          const waiting = yield* Effect.forkChild(Effect.scoped(storeOf(database)))
          yield* sleep(300)
          yield* Effect.promise(() => Promise.all(others.map((other) => other.end())))
          yield* Fiber.join(waiting)
        }),
    )
  },
  ["max_connections=5", "superuser_reserved_connections=0"],
)

describeWithPostgres("PostgreSQL that was restored", (server) => {
  it.live(
    "L16 restored to an hour ago: a writer that knows more records gets an error, and leaves no gap",
    () =>
      Effect.gen(function* () {
        const { postgres } = server
        const database = server.newDatabase()
        const copy = join(postgres.folder, "copy")
        const store = yield* storeOf(database, { leaseFor: Duration.minutes(5) })
        const writers = yield* Effect.forEach([1, 2, 3], (number) =>
          store.create(metaOf(number), firstRecords(metaOf(number))),
        )
        const [first, second, third] = writers
        if (first === undefined || second === undefined || third === undefined) return
        yield* first.append(messages(1, 5), "synced")
        postgres.stop()
        postgres.copy(postgres.data, copy)
        postgres.start()
        yield* first.append(messages(5, 9), "synced")
        yield* second.append(messages(1, 3), "synced")
        const later = yield* store.create(metaOf(4), firstRecords(metaOf(4)))
        postgres.stop()
        postgres.copy(copy, postgres.data)
        postgres.start()
        // Another process has opened the second one since the restore, after the lease in the backup had ended.
        const other = yield* storeOf(database)
        postgres.sql("UPDATE colloquy_holders SET until_ms = 0", databaseOf(database))
        const opened = yield* other.open({ id: metaOf(2).id })
        assert.strictEqual(yield* faultOf(first.append(messages(9, 10), "synced")), "Reverted")
        assert.strictEqual(yield* faultOf(second.append(messages(3, 4), "synced")), "LeaseLost")
        assert.strictEqual(yield* faultOf(third.append(messages(1, 2), "synced")), "LeaseLost")
        assert.strictEqual(yield* faultOf(later.append(messages(1, 2), "synced")), "Gone")
        yield* opened.writer.append(messages(1, 2), "synced")
        assert.deepStrictEqual(yield* recordsOf(store), [...firstRecords(meta), ...messages(1, 5)])
      }),
    60_000,
  )
})
