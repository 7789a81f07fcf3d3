/** Counts of requests in the database: both databases must pass each case. */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlRequestCounts from "../../src/SqlRequestCounts.ts"
import { type Case, caseOf } from "./Cases.ts"
import { storeOf, withSql, type World } from "./Worlds.ts"

/** No test takes as long. */
const period = Duration.hours(24 * 365)

/** The counts of a process of its own. */
const countsOf = ({ client }: World) =>
  Effect.flatMap(Layer.build(Layer.fresh(client)), (context) =>
    Effect.provideContext(SqlRequestCounts.make, context),
  )

export const countCases: ReadonlyArray<Case> = [
  caseOf(
    "requests of a principal are added up over all processes, also at the same time",
    (world) =>
      Effect.gen(function* () {
        yield* storeOf(world)
        const a = yield* countsOf(world)
        const b = yield* countsOf(world)
        const first = yield* a.add("ada", 3, period)
        assert.strictEqual(first.requests, 3)
        assert.strictEqual(first.period, Math.floor(first.atMs / Duration.toMillis(period)))
        assert.isAbove(first.atMs, 1_600_000_000_000)
        assert.strictEqual((yield* b.add("ada", 4, period)).requests, 7)
        assert.strictEqual((yield* b.add("bob", 1, period)).requests, 1)
        const all = yield* Effect.all(
          Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? a : b).add("ada", 1, period)),
          { concurrency: "unbounded" },
        )
        const counted = all.map(({ requests }) => requests).toSorted((one, other) => one - other)
        assert.deepStrictEqual(
          counted,
          Array.from({ length: 20 }, (_, n) => n + 8),
        )
      }),
  ),
  caseOf("requests of an earlier period do not count, and those of a later one do", (world) =>
    Effect.gen(function* () {
      yield* storeOf(world)
      const { add } = yield* countsOf(world)
      const { period: now } = yield* add("ada", 3, period)
      const move = (by: number) =>
        withSql(world, (sql) => sql`UPDATE colloquy_request_counts SET period = ${now + by}`)
      yield* move(-1)
      const next = yield* add("ada", 2, period)
      assert.deepStrictEqual([next.requests, next.period], [2, now])
      // Another process is a moment ahead.
      yield* move(1)
      const late = yield* add("ada", 2, period)
      assert.deepStrictEqual([late.requests, late.period], [4, now + 1])
    }),
  ),
]
