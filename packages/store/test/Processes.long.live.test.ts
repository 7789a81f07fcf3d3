import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as NodeStore from "../src/node/NodeStore.ts"
import { idOf } from "./support/Records.ts"
import { readAll } from "./support/Machine.ts"

const script = fileURLToPath(new URL("./processes/Writer.ts", import.meta.url))

interface Writer {
  readonly process: ChildProcess
  readonly lines: AsyncIterator<string>
}

const temporary = Effect.acquireRelease(
  Effect.sync(() => FS.mkdtempSync(join(tmpdir(), "colloquy-store-"))),
  (home) => Effect.sync(() => FS.rmSync(home, { recursive: true, maxRetries: 10, force: true })),
)

const id = idOf(1)

const start = (home: string, how: "create" | "open", bytes: number) =>
  Effect.acquireRelease(
    Effect.sync((): Writer => {
      const process = spawn(globalThis.process.execPath, [script, home, id, how, String(bytes)], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      return { process, lines: createInterface(process.stdout)[Symbol.asyncIterator]() }
    }),
    ({ process }) => Effect.sync(() => process.kill("SIGKILL")),
  )

const next = ({ lines }: Writer) =>
  Effect.promise(async () => {
    const { value } = await lines.next()
    return value as string | undefined
  })

const sleep = (ms: number) => Effect.promise(() => new Promise((done) => setTimeout(done, ms)))

const kill = Effect.fnUntraced(function* (writer: Writer) {
  writer.process.kill("SIGKILL")
  const said: Array<string> = []
  for (;;) {
    const line = yield* next(writer)
    if (line === undefined) return said
    said.push(line)
  }
})

/** Delays that are the same in every run, although the step that each of them interrupts may differ. */
const moments = (count: number) => {
  let seed = 20_261_121
  return Array.from({ length: count }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % 60
  })
}

/** Last byte of the only rollout file; undefined when there is none. */
const lastByte = (home: string): number | undefined => {
  const [file = ""] = FS.readdirSync(join(home, "sessions"), {
    recursive: true,
    encoding: "utf8",
  }).filter((name) => name.endsWith(".jsonl"))
  return FS.readFileSync(join(home, "sessions", file)).at(-1)
}

const pidOf = (line: string | undefined) => Number(line?.replace("held ", ""))

describe("processes that write one conversation", () => {
  it.live(
    "L16 one process holds the lease; another gets its holder in the error, and takes it over when the holder is dead",
    () =>
      Effect.gen(function* () {
        const home = yield* temporary
        const first = yield* start(home, "create", 100)
        assert.strictEqual(yield* next(first), "opened 1 ")
        const second = yield* start(home, "open", 100)
        assert.strictEqual(pidOf(yield* next(second)), first.process.pid)
        yield* kill(first)
        const third = yield* start(home, "open", 100)
        assert.match((yield* next(third)) ?? "", /^opened 2 /)
        const error = yield* Effect.flatMap(ConversationStore, (store) =>
          Effect.flip(store.open({ id })),
        ).pipe(Effect.scoped, Effect.provide(NodeStore.layer({ home })))
        assert.strictEqual(error._tag, "LeaseHeld")
        assert.include(error.message, `process ${third.process.pid} on `)
        yield* kill(third)
      }),
  )

  it.live(
    "L11 a process killed while it writes 200 KB lines leaves every synced event and a log that can be continued",
    () =>
      Effect.gen(function* () {
        const home = yield* temporary
        let synced = 0
        let isTorn = false
        for (const [round, ms] of moments(10).entries()) {
          const writer = yield* start(home, round === 0 ? "create" : "open", 200_000)
          const opened = (yield* next(writer)) ?? ""
          assert.match(opened, new RegExp(`^opened ${round + 1} `))
          assert.strictEqual(opened.includes("torn_tail"), isTorn)
          yield* sleep(ms)
          const said = yield* kill(writer)
          synced = Math.max(synced, ...said.map((line) => Number(line.replace("synced ", ""))))
          isTorn = lastByte(home) !== 0x0a
          const records = yield* readAll(id).pipe(Effect.provide(NodeStore.layer({ home })))
          const seqs = records.flatMap((r) => (r._tag === "Event" ? [r.event.seq] : []))
          assert.deepStrictEqual(seqs, [...seqs.keys()], "no gap, no repeat")
          assert.isAtLeast(seqs.length - 1, synced, `round ${round}: synced is there`)
        }
        assert.isAbove(synced, 0)
      }),
    60_000,
  )
})
