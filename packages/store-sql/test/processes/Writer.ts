/**
 * A process that writes one conversation until it is killed: `node Writer.ts <database> <id> <create|open> <bytes per
 * record> <lease in ms>`. `<database>` is the address of a PostgreSQL database or the path of a SQLite file. Prints one line
 * per event on stdout: `held <pid>`, `opened <generation>`, `synced <seq>`, `lost` when an append failed for its lease.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { eventRecord } from "@colloquy/core/LogRecord"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { writeSync } from "node:fs"
import * as PostgresStore from "../../src/node/PostgresStore.ts"
import * as SqliteStore from "../../src/node/SqliteStore.ts"
import { readAll } from "../support/ReadAll.ts"

const [database = "", id = "", how = "open", bytes = "100", lease = "10000"] = process.argv.slice(2)
const conversation = ConversationId.make(id)

// At once, so that nothing that was acknowledged is unsaid when the process is killed.
const say = (line: string) => Effect.sync(() => void writeSync(1, `${line}\n`))

const text = "x".repeat(Number(bytes))

const leaseFor = Duration.millis(Number(lease))

const layer = database.startsWith("postgres:")
  ? PostgresStore.layer({ database: Redacted.make(database), leaseFor })
  : SqliteStore.layer({ file: database, leaseFor })

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
  }
}).pipe(
  Effect.scoped,
  Effect.catchTag("LeaseHeld", ({ holder }) => say(`held ${holder.pid}`)),
  Effect.catchTag("LeaseLost", () => say("lost")),
  Effect.provide(layer),
)

await Effect.runPromise(main)
