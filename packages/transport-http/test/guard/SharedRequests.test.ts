import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { type LimitFault, Limits } from "../../src/guard/Limits.ts"
import { RequestCounts } from "../../src/guard/RequestCounts.ts"
import { slackOf } from "../../src/guard/SharedRequests.ts"
import { MemoryCounts } from "../support/MemoryCounts.ts"

/** A server, with what one request of the principal gets: undefined where it is served. */
const start = Effect.fnUntraced(function* (counts: MemoryCounts, maxPrincipalRequests: number) {
  const layer = Limits.layer({ maxPrincipalRequests }).pipe(
    Layer.provide(Layer.succeed(RequestCounts, counts)),
  )
  const { admit } = Context.get(yield* Layer.build(Layer.fresh(layer)), Limits)
  return (principal = "ada"): Effect.Effect<LimitFault | undefined> =>
    Effect.map(Effect.result(Effect.scoped(admit(principal))), (result) =>
      Result.isFailure(result) ? result.failure : undefined,
    )
})

/** How many of these requests are served, one after the other. */
const served = (
  requests: number,
  ...servers: ReadonlyArray<() => Effect.Effect<LimitFault | undefined>>
) =>
  Effect.map(
    Effect.forEach(
      Array.from(
        { length: requests },
        (_, n) => servers[n % servers.length] ?? (() => Effect.undefined),
      ),
      (send) => send(),
    ),
    (faults) => faults.filter((fault) => fault === undefined).length,
  )

const above = (limit: number, retryAfterSeconds: number): LimitFault => ({
  status: 429,
  message: `more than ${limit} requests within 10 s`,
  retryAfterSeconds,
})

describe("requests of a principal at several servers", () => {
  it.effect("are limited together, exactly where the limit is small", () =>
    Effect.gen(function* () {
      const counts = new MemoryCounts(3000)
      const a = yield* start(counts, 4)
      const b = yield* start(counts, 4)
      assert.strictEqual(yield* served(4, a, b), 4)
      assert.deepStrictEqual(yield* a(), above(4, 7))
      assert.deepStrictEqual(yield* b(), above(4, 7))
      assert.isUndefined(yield* a("bob"))
      // A server that knows that the limit is reached does not ask again.
      const { length } = counts.added
      yield* a()
      assert.lengthOf(counts.added, length)
      yield* TestClock.adjust("7 seconds")
      assert.strictEqual(yield* served(9, b, a), 4)
      assert.deepStrictEqual(yield* b(), above(4, 10))
    }).pipe(Effect.scoped),
  )

  it.effect("are limited together with at most one in a hundred more for each server", () =>
    Effect.gen(function* () {
      const limit = 1000
      const counts = new MemoryCounts()
      const servers = yield* Effect.forEach([1, 2, 3], () => start(counts, limit))
      const all = yield* served(4 * limit, ...servers)
      assert.isAtLeast(all, limit)
      assert.isAtMost(all, limit + servers.length * slackOf(limit))
      assert.strictEqual(slackOf(limit), 10)
      // One in eleven requests of a server waits for the others.
      assert.isAtMost(counts.added.length, limit / slackOf(limit) + servers.length * 2)
    }).pipe(Effect.scoped),
  )

  it.effect("get the whole limit at one server, whatever another one has counted by itself", () =>
    Effect.gen(function* () {
      const counts = new MemoryCounts()
      const a = yield* start(counts, 1000)
      const b = yield* start(counts, 1000)
      yield* served(5, a)
      assert.isAtLeast(yield* served(2000, b), 995)
    }).pipe(Effect.scoped),
  )

  it.effect("at the same time are added together, once", () =>
    Effect.gen(function* () {
      const counts = new MemoryCounts()
      const a = yield* start(counts, 200)
      yield* a("bob")
      const gate = yield* Deferred.make<void>()
      counts.gate = gate
      const fibers = yield* Effect.forEach(Array.from({ length: 12 }), () =>
        Effect.forkChild(a(), { startImmediately: true }),
      )
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll(fibers)
      const ofAda = counts.added.filter(([principal]) => principal === "ada")
      assert.deepStrictEqual(
        ofAda,
        Array.from({ length: 4 }, () => ["ada", 3] as const),
      )
    }).pipe(Effect.scoped),
  )

  it.effect("are limited by each server alone while they cannot be counted together", () => {
    const lines: Array<string> = []
    const log = Logger.layer([
      Logger.make(({ message }) => {
        lines.push(String(message))
      }),
    ])
    return Effect.gen(function* () {
      const counts = new MemoryCounts()
      const a = yield* start(counts, 4)
      const b = yield* start(counts, 4)
      counts.fault = "refused"
      assert.strictEqual(yield* served(9, a), 4)
      assert.strictEqual(yield* served(9, b), 4)
      yield* TestClock.adjust("10 seconds")
      counts.fault = "silent"
      const waiting = yield* Effect.forkChild(served(9, a), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(waiting), 4)
      assert.lengthOf(lines, 2)
      counts.fault = undefined
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* served(9, a, b), 4)
    }).pipe(Effect.provide(log), Effect.scoped)
  })

  it.effect("cost bounded memory: those of many principals share one count", () =>
    Effect.gen(function* () {
      const counts = new MemoryCounts()
      const a = yield* start(counts, 4)
      yield* Effect.forEach(Array.from({ length: 10_000 }), (_, n) => a(`p${n}`))
      yield* Effect.forEach([1, 2, 3, 4], (n) => a(`q${n}`))
      assert.deepStrictEqual(yield* a("q5"), above(4, 10))
    }).pipe(Effect.scoped),
  )
})
