/** Places of owners in the database: both databases must pass each case. */
import { ConversationId } from "@colloquy/protocol/Ids"
import { type Place, QuotaPlaces } from "@colloquy/core/QuotaPlaces"
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type Case, caseOf } from "./Cases.ts"
import { firstRecords, metaOf } from "./Records.ts"
import { processOf, withSql, type World } from "./Worlds.ts"

/** A process of the database, until `end`. */
const start = Effect.fnUntraced(function* (world: World, leaseFor?: Duration.Duration) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const layer = processOf(world, leaseFor === undefined ? {} : { leaseFor })
  const context = yield* Layer.buildWithScope(layer, scope)
  const places = Context.get(context, QuotaPlaces)
  if (places === undefined) return yield* Effect.die("the store has no places")
  return {
    places,
    store: Context.get(context, ConversationStore),
    end: Scope.close(scope, Exit.void),
  }
})

const place = (n: number, kind: Place["kind"] = "turn", owner = "alice"): Place => ({
  kind,
  owner,
  id: ConversationId.make(metaOf(n).id),
})

/** As if the processes of all stores had paused until their leases had ended, or had been killed. */
const expireLeases = (world: World) =>
  withSql(world, (sql) => sql`UPDATE colloquy_holders SET until_ms = 0`)

const rows = (world: World) =>
  withSql(world, (sql) =>
    Effect.map(sql<{ readonly n: number }>`SELECT count(*) AS n FROM colloquy_places`, ([row]) =>
      Number(row?.n),
    ),
  )

export const placeCases: ReadonlyArray<Case> = [
  caseOf(
    "places of an owner are limited over all processes, and those of each kind by themselves",
    (world) =>
      Effect.gen(function* () {
        const a = yield* start(world)
        const b = yield* start(world)
        assert.isTrue(yield* a.places.take(place(1), 2))
        assert.isTrue(yield* b.places.take(place(2), 2))
        assert.isFalse(yield* a.places.take(place(3), 2))
        assert.isFalse(yield* b.places.take(place(3), 2))
        // One that it has is no second one, at whichever process.
        assert.isTrue(yield* a.places.take(place(1), 2))
        assert.isTrue(yield* b.places.take(place(1), 2))
        assert.isTrue(yield* a.places.take(place(3, "conversation"), 2))
        assert.isTrue(yield* a.places.take(place(3, "turn", "bob"), 2))
        yield* b.places.release(place(2))
        assert.isTrue(yield* a.places.take(place(3), 2))
        yield* b.places.keep(place(4))
        assert.isFalse(yield* a.places.take(place(5), 3))
        for (const n of [1, 3]) yield* a.places.release(place(n))
        for (const n of [1, 4]) yield* b.places.release(place(n))
        yield* b.places.release(place(9))
        assert.strictEqual(yield* rows(world), 2)
      }),
  ),
  caseOf("of many attempts at the same time as many succeed as there are places", (world) =>
    Effect.gen(function* () {
      const all = yield* Effect.all([start(world), start(world), start(world)])
      const attempts = Array.from({ length: 30 }, (_, n) =>
        (all[n % 3] ?? all[0]).places.take(place(n + 1), 7),
      )
      const taken = yield* Effect.all(attempts, { concurrency: "unbounded" })
      assert.lengthOf(taken.filter(Boolean), 7)
    }),
  ),
  caseOf("places of a process that has ended, or whose leases have, are free", (world) =>
    Effect.gen(function* () {
      const a = yield* start(world)
      const b = yield* start(world)
      assert.isTrue(yield* a.places.take(place(1), 1))
      assert.isFalse(yield* b.places.take(place(2), 1))
      yield* a.end
      assert.isTrue(yield* b.places.take(place(2), 1))
      assert.strictEqual(yield* rows(world), 1)
      yield* expireLeases(world)
      const c = yield* start(world)
      assert.isTrue(yield* c.places.take(place(3), 1))
      // What they left is removed.
      assert.strictEqual(yield* rows(world), 1)
    }),
  ),
  caseOf("places of a process that paused past its leases count again when it continues", (world) =>
    Effect.gen(function* () {
      const paused = yield* start(world)
      const other = yield* start(world)
      assert.isTrue(yield* paused.places.take(place(1), 2))
      yield* expireLeases(world)
      assert.isTrue(yield* other.places.take(place(2), 2))
      // It gets another holder, under which what it has is written again.
      assert.isFalse(yield* paused.places.take(place(3), 2))
      yield* paused.places.release(place(1))
      assert.isTrue(yield* other.places.take(place(3), 2))
      yield* other.places.release(place(2))
      yield* other.places.release(place(3))
      assert.strictEqual(yield* rows(world), 0)
    }),
  ),
  caseOf(
    "the renewal of leases writes what the process has, also where it does nothing else",
    (world) =>
      Effect.gen(function* () {
        const paused = yield* start(world, Duration.minutes(1))
        const other = yield* start(world, Duration.minutes(1))
        yield* TestClock.adjust(0)
        yield* paused.places.keep(place(1))
        yield* expireLeases(world)
        assert.isTrue(yield* other.places.take(place(2), 1))
        yield* other.places.release(place(2))
        yield* TestClock.adjust("20 seconds")
        while (yield* other.places.take(place(2), 1)) {
          yield* other.places.release(place(2))
          yield* Effect.promise(() => new Promise(setImmediate))
        }
      }),
  ),
  caseOf(
    "what the database could not be told it is told after the next renewal of leases",
    (world) =>
      Effect.gen(function* () {
        const { places } = yield* start(world, Duration.minutes(1))
        yield* TestClock.adjust(0)
        const rename = (from: string, to: string) =>
          withSql(world, (sql) => sql`ALTER TABLE ${sql(from)} RENAME TO ${sql(to)}`)
        const hide = rename("colloquy_places", "hidden")
        const show = rename("hidden", "colloquy_places")
        const untilRows = (count: number) =>
          Effect.gen(function* () {
            yield* TestClock.adjust("20 seconds")
            while ((yield* rows(world)) !== count) {
              yield* Effect.promise(() => new Promise(setImmediate))
            }
          })
        yield* places.keep(place(9))
        yield* hide
        yield* places.keep(place(1))
        yield* places.release(place(9))
        assert.strictEqual((yield* Effect.flip(places.take(place(2), 9)))._tag, "StoreError")
        yield* show
        yield* untilRows(1)
        assert.isFalse(yield* places.take(place(2), 1))
        yield* hide
        yield* places.release(place(1))
        yield* show
        yield* untilRows(0)
      }),
  ),
  caseOf(
    "conversations of the store count until they are archived or deleted, and once with their places",
    (world) =>
      Effect.gen(function* () {
        const { places, store } = yield* start(world)
        const conversation = (n: number) => place(n, "conversation")
        const create = (n: number) => {
          const meta = { ...metaOf(n), owner: "alice" }
          return Effect.scoped(store.create(meta, firstRecords(meta)))
        }
        assert.isTrue(yield* places.take(conversation(1), 2))
        yield* create(1)
        assert.isTrue(yield* places.take(conversation(2), 2))
        yield* places.release(conversation(1))
        assert.isFalse(yield* places.take(conversation(3), 2))
        yield* create(2)
        yield* places.release(conversation(2))
        assert.isFalse(yield* places.take(conversation(3), 2))
        yield* store.archive(metaOf(1).id)
        assert.isTrue(yield* places.take(conversation(3), 2))
        yield* places.release(conversation(3))
        yield* store.unarchive(metaOf(1).id)
        assert.isFalse(yield* places.take(conversation(3), 2))
        yield* store.delete(metaOf(2).id)
        assert.isTrue(yield* places.take(conversation(3), 2))
        assert.isTrue(yield* places.take(place(4, "conversation", "bob"), 1))
      }),
  ),
]
