/** Notices between two nodes on a real PostgreSQL server, which the test makes itself. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as SqlStore from "@colloquy/store-sql/SqlStore"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as PostgresNotices from "../src/node/PostgresNotices.ts"
import { type Notice, Notices } from "../src/Notices.ts"

const missing = missingPostgres()
if (missing !== undefined) process.stdout.write(`skipped, because ${missing}: PostgresNotices\n`)

const broadcast = (text: string, owner: string | null = null): Notice => ({
  _tag: "Broadcast",
  owner,
  text,
})

/** The notices of a new node. */
const node = (url: string) =>
  Effect.map(
    Layer.build(
      Layer.fresh(PostgresNotices.layer).pipe(
        Layer.provide(
          Layer.fresh(SqlStore.clientLayer(PgClient.layer({ url: Redacted.make(url) }))),
        ),
      ),
    ),
    (services) => Context.get(services, Notices),
  )

describe.skipIf(missing !== undefined)("notices between nodes", () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = new PostgresServer(["fsync=off"])
    server.start()
  }, 60_000)
  afterAll(() => server?.remove())

  it.live("arrive at the other nodes in their order, whatever their length, equal ones too", () =>
    Effect.gen(function* () {
      const url = server?.database("notices") ?? ""
      server?.sql("CREATE SCHEMA other", "notices")
      const [a, b] = [yield* node(url), yield* node(url)]
      const other = yield* node(`${url}&options=-csearch_path%3Dother`)
      /** What arrives at the node that sends, and at one of another cluster. */
      const own: Array<Notice> = []
      const arrived = yield* Queue.unbounded<Notice>()
      for (const one of [a, other]) yield* one.watch((notice) => own.push(notice))
      yield* b.watch((notice) => Queue.offerUnsafe(arrived, notice))
      // The nodes begin to listen in their own time.
      const asking = Effect.andThen(a.send({ _tag: "ListChanged", owner: "x" }), Effect.sleep(20))
      const asked = yield* Effect.forkChild(Effect.forever(asking))
      yield* Queue.take(arrived)
      yield* Fiber.interrupt(asked)
      const sent = [
        broadcast("first"),
        broadcast(JSON.stringify('"\\漢😀\u0000\n'.repeat(10_000)), "alice"),
        broadcast("again"),
        broadcast("other"),
        broadcast("again"),
      ]
      for (const notice of sent) yield* a.send(notice)
      const got: Array<Notice> = []
      while (got.length < sent.length) {
        const notice = yield* Queue.take(arrived)
        if (notice._tag === "Broadcast") got.push(notice)
      }
      assert.deepStrictEqual(got, sent)
      assert.deepStrictEqual(own, [])
    }).pipe(Effect.scoped),
  )
})
