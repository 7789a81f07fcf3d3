/** The tables of Effect Cluster on a real PostgreSQL server, which it makes itself. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as SqlStore from "@colloquy/store-sql/SqlStore"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as MachineId from "effect/cluster/MachineId"
import * as Snowflake from "effect/cluster/Snowflake"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { removeAnswered } from "../src/node/AnsweredMessages.ts"

const missing = missingPostgres()
if (missing !== undefined) process.stdout.write(`skipped, because ${missing}: AnsweredMessages\n`)

const minuteMs = 60_000

const idAt = (timestamp: number, sequence: number) =>
  String(Snowflake.make({ timestamp, machineId: MachineId.make(1), sequence }))

describe.skipIf(missing !== undefined)("answered messages between nodes", () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = new PostgresServer(["fsync=off"])
    server.start()
  }, 60_000)
  afterAll(() => server?.remove())

  it.live("L10 are removed with their replies when they are old, and no other messages are", () =>
    Effect.gen(function* () {
      const database = server?.database("answered") ?? ""
      const client = SqlStore.clientLayer(PgClient.layer({ url: Redacted.make(database) }))
      const nowMs = yield* Clock.currentTimeMillis
      const message = (agoMs: number, sequence: number, processed: boolean, kind = 0): string => {
        const id = idAt(nowMs - agoMs, sequence)
        server?.sql(
          `INSERT INTO cluster_messages (id, shard_id, entity_type, entity_id, kind, request_id, processed)
          VALUES (${id}, 'default:1', 'Conversation', 'c', ${kind}, ${id}, ${processed});
          ${processed ? `INSERT INTO cluster_replies (id, kind, request_id, payload) VALUES (${id}, 0, ${id}, '{}')` : ""}`,
          "answered",
        )
        return id
      }
      yield* Effect.gen(function* () {
        yield* SqlMessageStorage.makeEncoded({ prefix: "cluster" })
        message(20 * minuteMs, 1, true)
        message(11 * minuteMs, 2, true)
        const waiting = message(30 * minuteMs, 3, false)
        const recent = message(9 * minuteMs, 4, true)
        // An interrupt of a request, which Effect Cluster does not mark.
        message(11 * minuteMs, 5, false, 2)
        assert.strictEqual(yield* removeAnswered("cluster"), 3)
        const left = server?.sql("SELECT id FROM cluster_messages ORDER BY id", "answered")
        assert.deepStrictEqual(left?.split("\n"), [waiting, recent])
        assert.strictEqual(server?.sql("SELECT id FROM cluster_replies", "answered"), recent)
        assert.strictEqual(yield* removeAnswered("cluster"), 0)
      }).pipe(Effect.provide([client, NodeCrypto.layerDigest]))
    }),
  )
})
