/** Leases in the database: both databases must pass each case. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type Case, caseOf } from "./Cases.ts"
import { readAll } from "./ReadAll.ts"
import { firstRecords, messages, metaOf } from "./Records.ts"
import { storeOf, withSql, type World } from "./Worlds.ts"

const meta = metaOf(1)
const { id } = meta

/** As if the processes of all stores had paused until their leases had ended. */
const expireLeases = (world: World) =>
  withSql(world, (sql) => sql`UPDATE colloquy_holders SET until_ms = 0`)

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ _tag }) => _tag, onSuccess: () => "success" })

export const leaseCases: ReadonlyArray<Case> = [
  caseOf(
    "L16 of many attempts of one process to open a conversation one wins, and can append",
    (world) =>
      Effect.gen(function* () {
        const store = yield* storeOf(world)
        yield* Effect.scoped(store.create(meta, firstRecords(meta)))
        for (let round = 0; round < 20; round++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const attempts = Array.from({ length: 6 }, () => Effect.exit(store.open({ id })))
              const others = [store.archive(id), store.unarchive(id)].map(Effect.exit)
              const [exits] = yield* Effect.all(
                [
                  Effect.all(attempts, { concurrency: "unbounded" }),
                  Effect.all(others, { concurrency: "unbounded" }),
                ],
                { concurrency: "unbounded" },
              )
              const opened = exits.filter(Exit.isSuccess)
              assert.lengthOf(opened, 1)
              for (const { value } of opened) {
                const records = yield* readAll(id).pipe(
                  Effect.provideService(ConversationStore, store),
                )
                const next = records.length
                yield* value.writer.append(messages(next, next + 1), "synced")
              }
            }),
          )
        }
      }),
  ),
  caseOf(
    "L16 a process that paused past its lease appends nothing, whether or not another one has taken the conversation over",
    (world) =>
      Effect.gen(function* () {
        const paused = yield* storeOf(world)
        const other = yield* storeOf(world)
        const stale = yield* paused.create(meta, firstRecords(meta))
        const second = yield* paused.create(metaOf(2), firstRecords(metaOf(2)))
        yield* stale.append(messages(1, 3), "synced")
        assert.strictEqual(yield* tagOf(Effect.scoped(other.open({ id }))), "LeaseHeld")
        yield* expireLeases(world)
        const opened = yield* other.open({ id })
        assert.isAbove(opened.writer.generation, stale.generation)
        assert.strictEqual(yield* tagOf(stale.append(messages(3, 4), "synced")), "LeaseLost")
        yield* opened.writer.append(messages(3, 5), "synced")
        assert.strictEqual(yield* tagOf(second.append(messages(1, 2), "synced")), "LeaseLost")
        const records = yield* readAll(id).pipe(Effect.provideService(ConversationStore, other))
        assert.deepStrictEqual(records, [...firstRecords(meta), ...messages(1, 5)])
        // Its store goes on, with other leases.
        const third = yield* paused.create(metaOf(3), firstRecords(metaOf(3)))
        yield* third.append(messages(1, 2), "synced")
        assert.strictEqual(yield* tagOf(Effect.scoped(paused.open({ id }))), "LeaseHeld")
        assert.strictEqual(
          yield* tagOf(Effect.scoped(paused.open({ id: metaOf(2).id }))),
          "success",
        )
      }),
  ),
  caseOf(
    "L4 L16 the writers of a process that paused past its lease are notified by its next renewal, those of other leases are not",
    (world) =>
      Effect.gen(function* () {
        const paused = yield* storeOf(world, { leaseFor: Duration.minutes(1) })
        const other = yield* storeOf(world)
        const lost: Array<string> = []
        const stale = yield* paused.create(meta, firstRecords(meta))
        stale.onLost?.(() => lost.push("stale"))
        yield* Effect.scoped(
          Effect.map(paused.create(metaOf(2), firstRecords(metaOf(2))), (writer) =>
            writer.onLost?.(() => lost.push("released")),
          ),
        )
        const silent = yield* paused.create(metaOf(3), firstRecords(metaOf(3)))
        yield* expireLeases(world)
        const valid = yield* other.create(metaOf(4), firstRecords(metaOf(4)))
        valid.onLost?.(() => lost.push("valid"))
        yield* TestClock.adjust("20 seconds")
        while (lost.length === 0) yield* Effect.promise(() => new Promise(setImmediate))
        assert.deepStrictEqual(lost, ["stale"])
        assert.strictEqual(yield* tagOf(stale.append(messages(1, 2), "synced")), "LeaseLost")
        silent.onLost?.(() => lost.push("later"))
        assert.deepStrictEqual(lost, ["stale", "later"])
      }),
  ),
  caseOf(
    "L4 L16 the writers of a process that paused past its lease are notified when it takes another one",
    (world) =>
      Effect.gen(function* () {
        const paused = yield* storeOf(world)
        const lost: Array<number> = []
        const writing = Effect.fnUntraced(function* (n: number) {
          const writer = yield* paused.create(metaOf(n), firstRecords(metaOf(n)))
          writer.onLost?.(() => lost.push(n))
          return writer
        })
        yield* writing(1)
        yield* writing(2)
        yield* expireLeases(world)
        // Of many that find out at the same time the first one registers the store again, for all.
        const writers = yield* Effect.forEach([3, 4, 5, 6], writing, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          lost.toSorted((a, b) => a - b),
          [1, 2],
        )
        for (const writer of writers) yield* writer.append(messages(1, 2), "synced")
        const tokens = yield* withSql(
          world,
          (sql) => sql`SELECT DISTINCT holder FROM colloquy_conversations ORDER BY holder`,
        )
        assert.lengthOf(tokens, 2)
      }),
  ),
  caseOf(
    "L16 leases follow the clock of the database: that of the process may be years behind or jump, and a renewal prolongs them",
    (world) =>
      Effect.gen(function* () {
        // The clock of the test is at the beginning of 1970.
        const store = yield* storeOf(world, { leaseFor: Duration.minutes(1) })
        const other = yield* storeOf(world)
        const writer = yield* store.create(meta, firstRecords(meta))
        const until = withSql(world, (sql) =>
          Effect.map(
            sql<{
              readonly until_ms: number
            }>`SELECT until_ms FROM colloquy_holders ORDER BY until_ms DESC`,
            ([row]) => row?.until_ms ?? 0,
          ),
        )
        const before = yield* until
        yield* TestClock.adjust("20 seconds")
        while ((yield* until) <= before) yield* Effect.promise(() => new Promise(setImmediate))
        assert.isBelow((yield* until) - before, 60_000)
        yield* writer.append(messages(1, 2), "synced")
        assert.strictEqual(yield* tagOf(Effect.scoped(other.open({ id }))), "LeaseHeld")
      }),
  ),
  caseOf(
    "L16 a lease says which process has it, and one of an ended process is taken over at once",
    (world) =>
      Effect.gen(function* () {
        const own = { pid: 41, host: "one", url: "http://one:1" }
        const running = yield* storeOf(world, {
          processes: { own: () => own, isEnded: () => false },
        })
        const other = yield* storeOf(world)
        const witness = yield* storeOf(world, {
          processes: { own: () => ({ pid: 42 }), isEnded: ({ pid }) => pid === 41 },
        })
        const stale = yield* running.create(meta, firstRecords(meta))
        const error = yield* Effect.flip(Effect.scoped(other.open({ id })))
        assert.strictEqual(error._tag, "LeaseHeld")
        if (error._tag === "LeaseHeld") {
          const { sinceMs, ...holder } = error.holder
          assert.deepStrictEqual(holder, own)
          assert.isAbove(sinceMs ?? 0, 1_700_000_000_000)
        }
        const { writer } = yield* witness.open({ id })
        assert.strictEqual(writer.generation, 2)
        assert.strictEqual(yield* tagOf(stale.append(messages(1, 2), "synced")), "LeaseLost")
      }),
  ),
  caseOf(
    "L16 the leases of a store end with it, and its writers append nothing afterwards",
    (world) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const store = yield* Scope.provide(storeOf(world), scope)
        const other = yield* storeOf(world)
        const stale = yield* store.create(meta, firstRecords(meta))
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* tagOf(stale.append(messages(1, 2), "synced")), "LeaseLost")
        const { writer } = yield* other.open({ id })
        yield* writer.append(messages(1, 2), "synced")
      }),
  ),
  caseOf(
    "L16 a writer of a conversation that was deleted, and created again, appends nothing",
    (world) =>
      Effect.gen(function* () {
        const store = yield* storeOf(world)
        const other = yield* storeOf(world)
        const stale = yield* store.create(meta, firstRecords(meta))
        yield* expireLeases(world)
        yield* other.delete(id)
        const again = yield* other.create(meta, firstRecords(meta))
        assert.strictEqual(again.generation, stale.generation)
        const error = yield* Effect.flip(stale.append(messages(1, 2), "synced"))
        assert.strictEqual(error._tag === "StoreError" ? error.reason : error._tag, "Gone")
        yield* again.append(messages(1, 2), "synced")
      }),
  ),
]
