import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as SqliteStore from "../src/node/SqliteStore.ts"
import { copyAll, copyConversation } from "../src/Transfer.ts"
import { folderForTests } from "./support/Folder.ts"
import { readAll } from "./support/ReadAll.ts"
import { firstRecords, messages, metaOf } from "./support/Records.ts"

type Store = ConversationStore["Service"]

const folder = folderForTests()

const built = <E>(layer: Layer.Layer<ConversationStore, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, ConversationStore))

const newHome = () => mkdtempSync(join(folder, "home-"))

const rollouts = (home = newHome()) => built(NodeStore.layer({ home }))

const database = () => built(SqliteStore.layer({ file: join(newHome(), "store.sqlite") }))

const recordsOf = (store: Store, id: ConversationId) =>
  readAll(id, 7).pipe(Effect.provideService(ConversationStore, store))

/** A file that this program wrote and three versions of the original continued; a test of rollout files has it too. */
const resumed = fileURLToPath(
  new URL("../../store/test/fixtures/resumed-by-original.jsonl", import.meta.url),
)
const resumedName = "rollout-2026-11-22T14-34-43-01a203ae-4b47-7427-98cf-2b50d2a38c33.jsonl"

const settings = {
  model: "offline",
  provider: "offline",
  cwd: "/w",
  approvalPolicy: "on-request",
  sandboxPolicy: { mode: "read-only" },
  summary: "auto",
} as const

/** One record of each kind, after the first one. */
const everyKind: ReadonlyArray<LogRecord> = [
  { _tag: "Settings", atMs: 1, settings },
  {
    _tag: "Submission",
    atMs: 2,
    id: "s",
    chosen: true,
    receipt: { id: "s", disposition: "waiting" },
    op: { type: "user_input", items: [{ type: "text", text: "a\0 \ud800 é" }] },
    inQueue: true,
    first: true,
  },
  {
    _tag: "ToolCall",
    atMs: 3,
    turnId: "s",
    callId: "c",
    eventCallId: "c2",
    name: "shell",
    replay: "ask",
    attempt: 1,
  },
  { _tag: "Question", atMs: 4, seq: 9, expiresAtMs: 5, sandbox: { mode: "read-only" } },
  { _tag: "Attempt", atMs: 5, turnId: "s", attempt: 2 },
  { _tag: "Stop", atMs: 6, turnId: "s", reason: "interrupted" },
]

describe("copies between rollout files and a database", () => {
  it.live("a file that the original has continued is the same by its records after both ways", () =>
    Effect.gen(function* () {
      const home = newHome()
      const day = join(home, "sessions", "2026", "11", "22")
      mkdirSync(day, { recursive: true })
      copyFileSync(resumed, join(day, resumedName))
      const [from, sql, to] = [yield* rollouts(home), yield* database(), yield* rollouts()]
      const listed = yield* from.list({ limit: 5 })
      const id = listed.items[0]?.meta.id ?? assert.fail("expected the conversation of the file")
      const records = yield* recordsOf(from, id)
      assert.isAbove(records.length, 5)
      yield* copyConversation({ from, to: sql }, id)
      assert.deepStrictEqual(yield* recordsOf(sql, id), records)
      yield* copyConversation({ from: sql, to }, id)
      assert.deepStrictEqual(yield* recordsOf(to, id), records)
      const { path: _, ...before } = yield* from.metadata({ id })
      const { path: __, ...after } = yield* to.metadata({ id })
      assert.deepStrictEqual(after, before)
    }),
  )

  it.live(
    "all conversations are copied, with every kind of record, names, archive marks and forks",
    () =>
      Effect.gen(function* () {
        const [from, sql, to] = [yield* rollouts(), yield* database(), yield* rollouts()]
        const metas = [
          metaOf(1, { instructions: "be kind", owner: "ann", git: { branch: "main" } }),
          metaOf(2),
          metaOf(3, { forkedFrom: metaOf(2).id }),
        ]
        for (const [i, meta] of metas.entries()) {
          const log = [...firstRecords(meta), ...everyKind, ...messages(1, 700 * i + 1)]
          yield* Effect.scoped(from.create(meta, log))
        }
        yield* from.rename(metaOf(1).id, "first")
        yield* from.archive(metaOf(2).id)
        const expected = yield* Effect.forEach(metas, ({ id }) => recordsOf(from, id))
        for (const [source, target] of [
          [from, sql],
          [sql, to],
        ] as const) {
          const copied = yield* copyAll({ from: source, to: target })
          assert.deepStrictEqual(
            copied,
            metas.map(({ id }) => ({ id })),
          )
          const found = yield* Effect.forEach(metas, ({ id }) => recordsOf(target, id))
          assert.deepStrictEqual(found, expected)
          for (const { id } of metas) {
            const { path: _, ...before } = yield* from.metadata({ id })
            const { path: __, revision: ___, ...after } = yield* target.metadata({ id })
            assert.deepStrictEqual(after, before)
          }
        }
      }),
  )

  it.live(
    "a copy that was interrupted is continued, a finished one is left, and another conversation is never changed",
    () =>
      Effect.gen(function* () {
        const [from, to] = [yield* rollouts(), yield* database()]
        const meta = metaOf(1)
        const { id } = meta
        const log = [...firstRecords(meta), ...messages(1, 1300)]
        yield* Effect.scoped(from.create(meta, log))
        const failing: Store = {
          ...to,
          list: (query) => to.list(query),
          create: (...args) =>
            Effect.map(to.create(...args), (writer) => ({
              ...writer,
              append: () =>
                Effect.fail(
                  new StoreError({ operation: "append", reason: "Unreachable", message: "gone" }),
                ),
            })),
        }
        const error = yield* Effect.flip(copyConversation({ from, to: failing }, id))
        assert.strictEqual(error.message, "gone")
        assert.strictEqual((yield* recordsOf(to, id)).length, 500)
        for (let call = 0; call < 2; call++) {
          yield* copyConversation({ from, to }, id)
          assert.deepStrictEqual(yield* recordsOf(to, id), log)
        }
        const { writer } = yield* to.open({ id })
        const other = messages(1300, 1301, { text: "others" })
        const inUse = yield* Effect.flip(copyConversation({ from, to }, id))
        assert.strictEqual(inUse._tag, "LeaseHeld")
        yield* writer.append(other, "synced")
      }),
  )

  it.live("a conversation that was continued in the other store is not overwritten", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* rollouts(), yield* database()]
      const meta = metaOf(1)
      yield* Effect.scoped(from.create(meta, [...firstRecords(meta), ...messages(1, 20)]))
      const longer = [...firstRecords(meta), ...messages(1, 21)]
      yield* Effect.scoped(to.create(meta, longer))
      const [copied] = yield* copyAll({ from, to })
      const error = copied?.error
      assert.strictEqual(error?._tag === "StoreError" ? error.reason : error, "Exists")
      assert.deepStrictEqual(yield* recordsOf(to, meta.id), longer)
    }),
  )

  it.live("a conversation whose file lacks an event is refused, and the others are copied", () =>
    Effect.gen(function* () {
      const home = newHome()
      const [whole, damaged] = [metaOf(1), metaOf(2)]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const written = yield* rollouts(home)
          for (const meta of [whole, damaged])
            yield* written.create(meta, [...firstRecords(meta), ...messages(1, 9)])
        }),
      )
      const from = yield* rollouts(home)
      const { path = "" } = yield* from.metadata({ id: damaged.id })
      const lines = readFileSync(path, "utf8").split("\n")
      const first = lines.findIndex((line) => line.includes("session_configured"))
      writeFileSync(path, lines.with(first, "{broken").join("\n"))
      const to = yield* database()
      const copied = yield* copyAll({ from: yield* rollouts(home), to })
      const { error } = copied.find(({ id }) => id === damaged.id) ?? {}
      assert.instanceOf(error, StoreError)
      assert.match(error.message, /is damaged: its first event is not session_configured$/)
      assert.isUndefined(copied.find(({ id }) => id === whole.id)?.error)
      const listed = yield* to.list({ limit: 5 })
      assert.deepStrictEqual(
        listed.items.map(({ meta }) => meta.id),
        [whole.id],
      )
    }),
  )
})
