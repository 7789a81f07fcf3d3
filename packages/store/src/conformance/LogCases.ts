/** Conformance: what is appended is read, from both ends, in pages of any size. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { type Behaviour, expectFailure, expectEqual } from "./Expectations.ts"
import {
  eventsFrom,
  exchange,
  fullTurn,
  firstRecords,
  userMessage,
  sampleMeta,
} from "./SampleRecords.ts"

/** Every record, read forward in pages. */
export const readAll = Effect.fnUntraced(function* (id: ConversationId, max: number) {
  const store = yield* ConversationStore
  const records: Array<LogRecord> = []
  let from: number | undefined
  for (;;) {
    const page = yield* store.read(id, { ...(from === undefined ? {} : { from }), max })
    yield* expectEqual("a page holds no more than asked for", page.records.length <= max, true)
    records.push(...page.records)
    if (page.next === undefined) return records
    yield* expectEqual("a page with more behind it has records", page.records.length > 0, true)
    from = page.next
  }
})

const readAllBackward = Effect.fnUntraced(function* (id: ConversationId, max: number) {
  const store = yield* ConversationStore
  let records: Array<LogRecord> = []
  let before: number | undefined
  for (;;) {
    const page = yield* store.readBackward(id, {
      ...(before === undefined ? {} : { before }),
      max,
    })
    yield* expectEqual("a page holds no more than asked for", page.records.length <= max, true)
    records = [...page.records, ...records]
    if (page.next === undefined) return records
    yield* expectEqual("a page with more before it has records", page.records.length > 0, true)
    before = page.next
  }
})

/** More than one write, one page and one block. */
const longLog = (meta = sampleMeta(1)) => ({
  first: firstRecords(meta),
  batches: [
    fullTurn(1),
    ...Array.from({ length: 60 }, (_, i) => exchange(9 + 3 * i, `words ${i}`)),
    exchange(189, "x".repeat(200_000)),
    exchange(192, 'odd \u0000\n\r\u2028\ud800 "\\ü🙂'),
  ],
})

const stored = Effect.fnUntraced(function* () {
  const store = yield* ConversationStore
  const meta = sampleMeta(1)
  const { batches, first } = longLog(meta)
  const writer = yield* store.create(meta, first)
  for (const [i, batch] of batches.entries()) {
    yield* writer.append(batch, i % 3 === 0 ? "synced" : "written")
  }
  return { id: meta.id, writer, records: [...first, ...batches.flat()] }
})

export const logCases: ReadonlyArray<Behaviour> = [
  {
    name: "what was appended is read in order, in pages of any size",
    run: Effect.gen(function* () {
      const { id, records } = yield* stored()
      for (const max of [1, 7, 64, 10_000]) {
        yield* expectEqual(`pages of ${max}`, yield* readAll(id, max), records)
      }
    }),
  },
  {
    name: "it is read backward in pages of any size, each in the order of the log",
    run: Effect.gen(function* () {
      const { id, records } = yield* stored()
      for (const max of [1, 7, 64, 10_000]) {
        yield* expectEqual(`pages of ${max}`, yield* readAllBackward(id, max), records)
      }
    }),
  },
  {
    name: "the place of an event is right before its record, and no other event has one",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const { id, records } = yield* stored()
      for (const seq of [0, 1, 5, 8, 9, 100, 188, 191, 194]) {
        const from = yield* store.positionOf(id, seq)
        const page = yield* store.read(id, { ...(from === undefined ? {} : { from }), max: 1 })
        const expected = records.find((r) => r._tag === "Event" && r.event.seq === seq)
        yield* expectEqual(`event ${seq}`, page.records, [expected])
        const before = yield* store.readBackward(id, {
          ...(from === undefined ? {} : { before: from }),
          max: 1,
        })
        const at = expected === undefined ? -1 : records.indexOf(expected)
        yield* expectEqual(`before ${seq}`, before.records, at > 0 ? [records[at - 1]] : [])
      }
      yield* expectEqual("no such event", yield* store.positionOf(id, 195), undefined)
    }),
  },
  {
    name: "a place stays right while the log grows, and the end of a page is a place",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const { id, records, writer } = yield* stored()
      const place = yield* store.positionOf(id, 50)
      const more = exchange(195, "more")
      yield* writer.append(more, "written")
      const whole = [...records, ...more]
      const at = whole.findIndex((r) => r._tag === "Event" && r.event.seq === 50)
      const page = yield* store.read(id, {
        ...(place === undefined ? {} : { from: place }),
        max: 10_000,
      })
      yield* expectEqual("from the place on", page.records, whole.slice(at))
      yield* expectEqual("nothing behind it", page.next, undefined)
    }),
  },
  {
    name: "a batch of nothing changes nothing",
    run: Effect.gen(function* () {
      const { id, records, writer } = yield* stored()
      yield* writer.append([], "synced")
      yield* expectEqual("the log", yield* readAll(id, 100), records)
    }),
  },
  {
    name: "conversations do not mix",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const metas = [1, 2, 3].map((number) => sampleMeta(number))
      const logs = yield* Effect.forEach(metas, (meta) =>
        Effect.map(store.create(meta, firstRecords(meta)), (writer) => ({ meta, writer })),
      )
      for (let round = 0; round < 5; round++) {
        for (const [i, { writer }] of logs.entries()) {
          yield* writer.append(exchange(1 + 3 * round, `${i} in ${round}`), "written")
        }
      }
      for (const [i, { meta }] of logs.entries()) {
        const expected = Array.from({ length: 5 }, (_, round) =>
          exchange(1 + 3 * round, `${i} in ${round}`),
        )
        const found = yield* readAll(meta.id, 4)
        yield* expectEqual(`of ${i}`, found, [...firstRecords(meta), ...expected.flat()])
      }
    }),
  },
  {
    name: "an id that is taken is refused, and what it names is unharmed",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const meta = sampleMeta(1)
      yield* Effect.scoped(store.create(meta, firstRecords(meta)))
      const again = { ...meta, cwd: "/elsewhere" }
      const error = yield* expectFailure("a second one", "StoreError", store.create(again, []))
      yield* expectEqual("why", error.reason, "Exists")
      yield* expectEqual("the first", yield* readAll(meta.id, 10), firstRecords(meta))
    }),
  },
  {
    name: "an id that nothing has is told so by every operation",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const { id } = sampleMeta(9)
      const none = "NoSuchConversation"
      yield* expectFailure("open", none, store.open({ id }))
      yield* expectFailure("read", none, store.read(id, { max: 1 }))
      yield* expectFailure("readBackward", none, store.readBackward(id, { max: 1 }))
      yield* expectFailure("positionOf", none, store.positionOf(id, 0))
      yield* expectFailure("metadata", none, store.metadata({ id }))
      yield* expectFailure("archive", none, store.archive(id))
      yield* expectFailure("unarchive", none, store.unarchive(id))
      yield* expectFailure("delete", none, store.delete(id))
    }),
  },
  {
    name: "metadata tells what it is, what was said first, and when it changed last",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const meta = sampleMeta(1, {
        instructions: "be kind",
        source: "mcp",
        forkedFrom: sampleMeta(2).id,
        git: { branch: "main", commitHash: "abc", repositoryUrl: "https://example.org/r" },
      })
      const writer = yield* store.create(meta, firstRecords(meta))
      const silent = yield* store.metadata({ id: meta.id })
      yield* expectEqual("the metadata", silent.meta, meta)
      yield* expectEqual("no preview yet", silent.preview, undefined)
      const words = eventsFrom(1, [
        { type: "user_message", message: "<environment_context>", kind: "environment_context" },
        userMessage(`  first\n\n words ${"long ".repeat(1000)}`),
        userMessage("second words"),
      ])
      yield* writer.append(words, "synced")
      const told = yield* store.metadata({ id: meta.id })
      yield* expectEqual("the preview", told.preview?.slice(0, 16), "first words long")
      yield* expectEqual("its length", (told.preview ?? "").length <= 1024, true)
      yield* expectEqual("the last change", told.updatedAtMs, words.at(-1)?.atMs)
      yield* expectEqual("not archived", told.archived, false)
    }),
  },
]
