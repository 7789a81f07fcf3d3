/** Conformance: what is appended is read, from both ends, in pages of any size. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { type Behaviour, fails, same } from "./Check.ts"
import { eventsFrom, exchange, fullTurn, openingOf, said, sampleMeta } from "./Samples.ts"

/** Every record, read forward in pages. */
export const readAll = Effect.fnUntraced(function* (id: ConversationId, max: number) {
  const store = yield* ConversationStore
  const records: Array<LogRecord> = []
  let from: number | undefined
  for (;;) {
    const page = yield* store.read(id, { ...(from === undefined ? {} : { from }), max })
    yield* same("a page holds no more than asked for", page.records.length <= max, true)
    records.push(...page.records)
    if (page.next === undefined) return records
    yield* same("a page with more behind it has records", page.records.length > 0, true)
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
    yield* same("a page holds no more than asked for", page.records.length <= max, true)
    records = [...page.records, ...records]
    if (page.next === undefined) return records
    yield* same("a page with more before it has records", page.records.length > 0, true)
    before = page.next
  }
})

/** More than one write, one page and one block. */
const longLog = (meta = sampleMeta(1)) => ({
  first: openingOf(meta),
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
        yield* same(`pages of ${max}`, yield* readAll(id, max), records)
      }
    }),
  },
  {
    name: "it is read backward in pages of any size, each in the order of the log",
    run: Effect.gen(function* () {
      const { id, records } = yield* stored()
      for (const max of [1, 7, 64, 10_000]) {
        yield* same(`pages of ${max}`, yield* readAllBackward(id, max), records)
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
        yield* same(`event ${seq}`, page.records, [expected])
        const before = yield* store.readBackward(id, {
          ...(from === undefined ? {} : { before: from }),
          max: 1,
        })
        const at = expected === undefined ? -1 : records.indexOf(expected)
        yield* same(`before ${seq}`, before.records, at > 0 ? [records[at - 1]] : [])
      }
      yield* same("no such event", yield* store.positionOf(id, 195), undefined)
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
      yield* same("from the place on", page.records, whole.slice(at))
      yield* same("nothing behind it", page.next, undefined)
    }),
  },
  {
    name: "a batch of nothing changes nothing",
    run: Effect.gen(function* () {
      const { id, records, writer } = yield* stored()
      yield* writer.append([], "synced")
      yield* same("the log", yield* readAll(id, 100), records)
    }),
  },
  {
    name: "conversations do not mix",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const metas = [1, 2, 3].map((number) => sampleMeta(number))
      const logs = yield* Effect.forEach(metas, (meta) =>
        Effect.map(store.create(meta, openingOf(meta)), (writer) => ({ meta, writer })),
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
        yield* same(`of ${i}`, found, [...openingOf(meta), ...expected.flat()])
      }
    }),
  },
  {
    name: "an id that is taken is refused, and what it names is unharmed",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const meta = sampleMeta(1)
      yield* Effect.scoped(store.create(meta, openingOf(meta)))
      const again = { ...meta, cwd: "/elsewhere" }
      const error = yield* fails("a second one", "StoreError", store.create(again, []))
      yield* same("why", error.reason, "Exists")
      yield* same("the first", yield* readAll(meta.id, 10), openingOf(meta))
    }),
  },
  {
    name: "an id that nothing has is told so by every operation",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const { id } = sampleMeta(9)
      const none = "NoSuchConversation"
      yield* fails("open", none, store.open({ id }))
      yield* fails("read", none, store.read(id, { max: 1 }))
      yield* fails("readBackward", none, store.readBackward(id, { max: 1 }))
      yield* fails("positionOf", none, store.positionOf(id, 0))
      yield* fails("metadata", none, store.metadata({ id }))
      yield* fails("archive", none, store.archive(id))
      yield* fails("unarchive", none, store.unarchive(id))
      yield* fails("delete", none, store.delete(id))
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
      const writer = yield* store.create(meta, openingOf(meta))
      const silent = yield* store.metadata({ id: meta.id })
      yield* same("the metadata", silent.meta, meta)
      yield* same("no preview yet", silent.preview, undefined)
      const words = eventsFrom(1, [
        { type: "user_message", message: "<environment_context>", kind: "environment_context" },
        said(`  first\n\n words ${"long ".repeat(1000)}`),
        said("second words"),
      ])
      yield* writer.append(words, "synced")
      const told = yield* store.metadata({ id: meta.id })
      yield* same("the preview", told.preview?.slice(0, 16), "first words long")
      yield* same("its length", (told.preview ?? "").length <= 1024, true)
      yield* same("the last change", told.updatedAtMs, words.at(-1)?.atMs)
      yield* same("not archived", told.archived, false)
    }),
  },
]
