/**
 * A process that writes one conversation until it is killed: `node Writer.ts <database> <id> <create|open> <bytes per
 * record> <lease in ms>`. `<database>` is the address of a PostgreSQL database or the path of a SQLite file. Prints one line
 * per event on stdout: `held <pid>`, `opened <generation>`, `synced <seq>`, `lost` when an append failed for its lease,
 * `failed <operation> <reason>` when the store failed.
 *
 * It has one connection. At SIGUSR1 it stops itself, as by SIGSTOP, while it has the connection and no transaction runs; at
 * SIGUSR2 within a transaction that has locked the conversation. It prints `stopping` before, and `continued` after it.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { eventRecord } from "@colloquy/core/LogRecord"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Logger from "effect/Logger"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { writeSync } from "node:fs"
import * as NodeProcesses from "../../src/node/NodeProcesses.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as SqlStore from "../../src/SqlStore.ts"
import { readAll } from "../support/ReadAll.ts"

const [database = "", id = "", how = "open", bytes = "100", lease = "10000"] = process.argv.slice(2)
const conversation = ConversationId.make(id)

// At once, so that nothing that was acknowledged is unsaid when the process is killed.
const say = (line: string) => Effect.sync(() => void writeSync(1, `${line}\n`))

const text = "x".repeat(Number(bytes))

const leaseFor = Duration.millis(Number(lease))

const isPostgres = database.startsWith("postgres:")

const layer = SqlStore.layer({ leaseFor, processes: NodeProcesses.make() }).pipe(
  Layer.provideMerge(
    isPostgres
      ? SqlStore.clientLayer(PgClient.layer({ url: Redacted.make(database), maxConnections: 1 }))
      : SqlStore.clientLayer(SqliteClient.layer(database)),
  ),
)

let stops: "outside" | "inside" | undefined
process.on("SIGUSR1", () => (stops = "outside"))
process.on("SIGUSR2", () => (stops = "inside"))

const stop = Effect.gen(function* () {
  yield* say("stopping")
  process.kill(process.pid, "SIGSTOP")
})

/** Stops this process if it was told to. */
const stopIfTold = Effect.gen(function* () {
  const where = stops
  if (where === undefined) return
  stops = undefined
  const sql = yield* SqlClient.SqlClient
  if (where === "outside") yield* Effect.scoped(Effect.andThen(sql.reserve, stop))
  else {
    const lock = sql.literal(isPostgres ? "FOR UPDATE" : "")
    const locked = sql`SELECT log FROM colloquy_conversations WHERE id = ${conversation} ${lock}`
    yield* sql.withTransaction(Effect.andThen(locked, stop))
  }
  yield* say("continued")
})

const begin = Effect.gen(function* () {
  const store = yield* ConversationStore
  if (how === "create") {
    const meta = {
      id: conversation,
      createdAtMs: Date.now(),
      cwd: "/w",
      originator: "writer",
      version: "0",
    }
    const first = { type: "warning", message: "begin" } as const
    const writer = yield* store.create(meta, [
      eventRecord(Date.now(), { seq: 0, id: "", msg: first }),
    ])
    return { writer, seq: 1 }
  }
  const { writer } = yield* store.open({ id: conversation })
  return { writer, seq: (yield* readAll(conversation)).length }
})

const main = Effect.gen(function* () {
  const { seq: first, writer } = yield* begin
  yield* say(`opened ${writer.generation}`)
  for (let seq = first; ; seq += 2) {
    const batch = [seq, seq + 1].map((one) =>
      eventRecord(Date.now(), {
        seq: one,
        id: "0",
        msg: { type: "agent_message", message: `${one} ${text}` },
      }),
    )
    yield* writer.append(batch, "synced")
    yield* say(`synced ${seq + 1}`)
    yield* stopIfTold
  }
}).pipe(
  Effect.scoped,
  Effect.catchTag("LeaseHeld", ({ holder }) => say(`held ${holder.pid}`)),
  Effect.catchTag("LeaseLost", () => say("lost")),
  Effect.provide(layer),
  Effect.catchTag("StoreError", ({ operation, reason }) => say(`failed ${operation} ${reason}`)),
  // The lines on stdout are those of this program alone.
  Effect.provideService(Logger.LogToStderr, true),
)

await Effect.runPromise(main)
