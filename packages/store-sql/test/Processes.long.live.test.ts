import type { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as PostgresStore from "../src/node/PostgresStore.ts"
import * as SqliteStore from "../src/node/SqliteStore.ts"
import { folderForTests } from "./support/Folder.ts"
import { describeWithPostgres } from "./support/PostgresTests.ts"
import { readAll } from "./support/ReadAll.ts"
import { metaOf } from "./support/Records.ts"

const script = fileURLToPath(new URL("./processes/Writer.ts", import.meta.url))

const { id } = metaOf(1)

/** A writer, with what it has said and the test has not read. */
interface Writer {
  readonly process: ChildProcess
  readonly unread: Array<string>
  /** Ends the wait of the test for the next line, or for the end of the lines. */
  wake: () => void
  hasEnded: boolean
}

interface Start {
  readonly how: "create" | "open"
  readonly bytes?: number
  readonly leaseMs?: number
}

const start = (database: string, { bytes = 100, how, leaseMs = 10_000 }: Start) =>
  Effect.acquireRelease(
    Effect.sync((): Writer => {
      const args = [script, database, id, how, String(bytes), String(leaseMs)]
      const process = spawn(globalThis.process.execPath, args, {
        stdio: ["ignore", "pipe", "inherit"],
      })
      const writer: Writer = { process, unread: [], wake: () => {}, hasEnded: false }
      // All lines are read at once: a writer whose pipe is full waits in `write`, and can renew no lease then.
      createInterface(process.stdout)
        .on("line", (line) => {
          writer.unread.push(line)
          writer.wake()
        })
        .on("close", () => {
          writer.hasEnded = true
          writer.wake()
        })
      return writer
    }),
    ({ process }) => Effect.sync(() => process.kill("SIGKILL")),
  )

/** The next line; undefined after the last one. */
const next = (writer: Writer) =>
  Effect.promise(async () => {
    while (writer.unread.length === 0 && !writer.hasEnded) {
      await new Promise<void>((done) => {
        writer.wake = done
      })
    }
    return writer.unread.shift()
  })

const sleep = (ms: number) => Effect.promise(() => new Promise((done) => setTimeout(done, ms)))

/** The lines up to the end of the process. */
const rest = Effect.fnUntraced(function* (writer: Writer) {
  const said: Array<string> = []
  for (;;) {
    const line = yield* next(writer)
    if (line === undefined) return said
    said.push(line)
  }
})

/** Makes the writer stop where the signal says. Resolves with what it said before. */
const stopAt = Effect.fnUntraced(function* (writer: Writer, signal: "SIGUSR1" | "SIGUSR2") {
  const said: Array<string> = []
  for (;;) {
    const line = yield* next(writer)
    if (line === "stopping") return said
    assert.match(line ?? "", /^(opened|synced) /)
    said.push(line ?? "")
    // From its first line on it listens to signals.
    if (said.length === 1) writer.process.kill(signal)
  }
})

/** Delays that are the same in every run, although the step that each of them interrupts may differ. */
const moments = (count: number) => {
  let seed = 20_261_124
  return Array.from({ length: count }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % 60
  })
}

const layerOf = (database: string) =>
  database.startsWith("postgres:")
    ? PostgresStore.layer({ database: Redacted.make(database) })
    : SqliteStore.layer({ file: database })

const recordsOf = (database: string, of: ConversationId = id) =>
  readAll(of).pipe(Effect.provide(layerOf(database)))

const lastSynced = (lines: ReadonlyArray<string>): number =>
  Math.max(0, ...lines.map((line) => Number(line.replace("synced ", "")) || 0))

/** @param blockedSays what a process says that opens the conversation while a stopped one has it locked */
const tests = (newDatabase: () => string, blockedSays: string) => {
  it.live(
    "L10 L11 a process killed at any moment leaves every acknowledged event once, and half of no batch",
    () =>
      Effect.gen(function* () {
        const database = newDatabase()
        let synced = 0
        for (const [round, ms] of moments(8).entries()) {
          const how = round === 0 ? "create" : "open"
          const writer = yield* start(database, { how, bytes: round % 2 === 0 ? 100 : 200_000 })
          assert.strictEqual(yield* next(writer), `opened ${round + 1}`)
          yield* sleep(ms)
          writer.process.kill("SIGKILL")
          synced = Math.max(synced, lastSynced(yield* rest(writer)))
          const records = yield* recordsOf(database)
          const seqs = records.flatMap((r) => (r._tag === "Event" ? [r.event.seq] : []))
          assert.deepStrictEqual(seqs, [...seqs.keys()], "no gap, no repeat")
          assert.strictEqual(seqs.length % 2, 1, "whole batches")
          assert.isAtLeast(seqs.length - 1, synced, `round ${round}: acknowledged is there`)
        }
        assert.isAbove(synced, 0)
      }),
    180_000,
  )

  it.live(
    "L16 a process that is stopped past its lease loses it, and appends nothing when it continues",
    () =>
      Effect.gen(function* () {
        const database = newDatabase()
        const paused = yield* start(database, { how: "create", leaseMs: 4000 })
        assert.strictEqual(yield* next(paused), "opened 1")
        assert.strictEqual(yield* next(paused), "synced 2")
        const early = yield* start(database, { how: "open" })
        assert.strictEqual(yield* next(early), `held ${paused.process.pid}`)
        // It renews its lease: much later it still has it.
        yield* sleep(6000)
        const later = yield* start(database, { how: "open" })
        assert.strictEqual(yield* next(later), `held ${paused.process.pid}`)
        const before = yield* stopAt(paused, "SIGUSR1")
        yield* sleep(6000)
        const other = yield* start(database, { how: "open" })
        assert.strictEqual(yield* next(other), "opened 2")
        assert.match((yield* next(other)) ?? "", /^synced /)
        paused.process.kill("SIGCONT")
        const said = yield* rest(paused)
        assert.strictEqual(said.at(-1), "lost")
        other.process.kill("SIGKILL")
        const synced = lastSynced(yield* rest(other))
        const records = yield* recordsOf(database)
        const seqs = records.flatMap((r) => (r._tag === "Event" ? [r.event.seq] : []))
        assert.deepStrictEqual(seqs, [...seqs.keys()])
        assert.isAtLeast(seqs.length - 1, Math.max(synced, lastSynced([...before, ...said])))
      }),
    120_000,
  )

  it.live(
    "L10 L16 a process that is stopped within a transaction makes another one fail with a typed error, and nothing is lost",
    () =>
      Effect.gen(function* () {
        const database = newDatabase()
        const paused = yield* start(database, { how: "create", leaseMs: 4000 })
        const before = yield* stopAt(paused, "SIGUSR2")
        yield* sleep(6000)
        const blocked = yield* start(database, { how: "open" })
        assert.deepStrictEqual(yield* rest(blocked), [blockedSays])
        paused.process.kill("SIGCONT")
        assert.strictEqual(yield* next(paused), "continued")
        // Nobody else has the conversation. It finds out that its lease has ended, and may have appended until then.
        const said = yield* rest(paused)
        assert.strictEqual(said.at(-1), "lost")
        const later = yield* start(database, { how: "open" })
        assert.strictEqual(yield* next(later), "opened 2")
        assert.match((yield* next(later)) ?? "", /^synced /)
        later.process.kill("SIGKILL")
        const synced = lastSynced([...before, ...said, ...(yield* rest(later))])
        const records = yield* recordsOf(database)
        const seqs = records.flatMap((r) => (r._tag === "Event" ? [r.event.seq] : []))
        assert.deepStrictEqual(seqs, [...seqs.keys()])
        assert.isAtLeast(seqs.length - 1, synced)
      }),
    120_000,
  )
}

describe("processes that write one conversation in a SQLite file", () => {
  const folder = folderForTests()
  let files = 0
  tests(() => join(folder, `${++files}.sqlite`), "failed open Slow")
})

describeWithPostgres("processes that write one conversation in PostgreSQL", ({ newDatabase }) => {
  tests(newDatabase, "failed open Slow")
})
