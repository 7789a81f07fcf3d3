/** The rows of the nodes of a cluster in PostgreSQL: an address belongs to one process at a time. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { NodeLoad } from "../src/NodeLoad.ts"
import * as NodeRows from "../src/node/NodeRows.ts"

const missing = missingPostgres()
const server = missing === undefined ? new PostgresServer() : undefined
if (missing !== undefined) process.stderr.write(`cluster: ${missing}\n`)

const load: NodeLoad = { shards: 7, conversations: 2, running: 1, waiting: 0, byShard: new Map() }

const address = "host:8748"

/** Claims the address for processes, each in a scope of its own. */
const claims = Effect.fnUntraced(function* (name: string) {
  const client = yield* Layer.build(
    PgClient.layer({ url: Redacted.make(server?.database(name) ?? "") }),
  )
  return Effect.fnUntraced(function* (process: string, at = address) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const row = yield* NodeRows.claim(at, process).pipe(
      Scope.provide(scope),
      Effect.provide(client),
    )
    return { row, close: Scope.close(scope, Exit.void) }
  })
})

describe.skipIf(server === undefined)("the rows of nodes", () => {
  beforeAll(() => server?.start())
  afterAll(() => server?.remove())

  const sql = (text: string, name: string) => server?.sql(text, name) ?? ""

  it.live("of processes that claim an address at once, one gets it", () =>
    Effect.gen(function* () {
      const claim = yield* claims("at_once")
      yield* claim("migrates", "other:1")
      const all = ["a", "b", "c"].map((process) => Effect.exit(claim(process)))
      const exits = yield* Effect.all(all, { concurrency: "unbounded" })
      const errors = exits.flatMap((exit) => Option.toArray(Exit.findErrorOption(exit)))
      const taken = new NodeRows.NodeAddressTaken({ address })
      assert.deepStrictEqual(errors, [taken, taken])
    }).pipe(Effect.scoped),
  )

  it.live(
    "a process gets the address of one that was killed or has ended, and of none that lives",
    () =>
      Effect.gen(function* () {
        const claim = yield* claims("ended")
        const killed = yield* claim("killed")
        assert.isTrue(yield* killed.row.renew(load))
        const { close } = yield* claim("a")
        assert.isTrue(yield* killed.row.renew(load))
        // One that takes long to start lives.
        assert.instanceOf(yield* Effect.flip(claim("b")), NodeRows.NodeAddressTaken)
        assert.isFalse(yield* killed.row.renew(load))
        // Its row is that of another process, and remains.
        yield* killed.close
        assert.strictEqual(sql("SELECT process FROM colloquy_nodes", "ended"), "a")
        yield* close
        assert.strictEqual(sql("SELECT count(*) FROM colloquy_nodes", "ended"), "0")
        yield* claim("b")
      }).pipe(Effect.scoped),
  )

  it.live("a process takes back a row of earlier times, as a restored database has it", () =>
    Effect.gen(function* () {
      const claim = yield* claims("restored")
      const { row } = yield* claim("a")
      sql("UPDATE colloquy_nodes SET process = 'earlier', at = at + interval '1 hour'", "restored")
      for (let reports = 0; reports < 4; reports++) assert.isTrue(yield* row.renew(load))
      assert.strictEqual(sql("SELECT process FROM colloquy_nodes", "restored"), "a")
      sql("DELETE FROM colloquy_nodes", "restored")
      assert.isTrue(yield* row.renew(load))
      assert.strictEqual(sql("SELECT process FROM colloquy_nodes", "restored"), "a")
    }).pipe(Effect.scoped),
  )

  it.live("a process whose row is old, since the database was away, keeps its address", () =>
    Effect.gen(function* () {
      const claim = yield* claims("away")
      const { row } = yield* claim("a")
      assert.isTrue(yield* row.renew(load))
      sql("UPDATE colloquy_nodes SET at = at - interval '1 minute'", "away")
      const second = yield* Effect.forkScoped(Effect.flip(claim("b")), { startImmediately: true })
      yield* Effect.sleep("3 seconds")
      assert.isTrue(yield* row.renew(load))
      assert.instanceOf(yield* Fiber.join(second), NodeRows.NodeAddressTaken)
      assert.isTrue(yield* row.renew(load))
    }).pipe(Effect.scoped),
  )

  it.live(
    "a process that stopped loses its address to one that took it over, and to none else",
    () =>
      Effect.gen(function* () {
        const claim = yield* claims("stopped")
        const { row } = yield* claim("a")
        assert.isTrue(yield* row.renew(load))
        const age = "UPDATE colloquy_nodes SET at = at - interval '1 hour'"
        sql(age, "stopped")
        assert.isTrue(yield* row.renew(load))
        sql(age, "stopped")
        const b = yield* claim("b")
        assert.isTrue(yield* row.renew(load))
        assert.isTrue(yield* b.row.renew(load))
        assert.isFalse(yield* row.renew(load))
      }).pipe(Effect.scoped),
  )
})
