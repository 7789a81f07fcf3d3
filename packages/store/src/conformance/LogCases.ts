/** Conformance: appended records are read forward and backward, in pages of any size. */
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

/** Reads every record, forward in pages of at most `max`. */
export const readAll = Effect.fnUntraced(function* (id: ConversationId, max: number) {
  const store = yield* ConversationStore
  const records: Array<LogRecord> = []
  let from: number | undefined
  for (;;) {
    const page = yield* store.read(id, { ...(from === undefined ? {} : { from }), max })
    yield* expectEqual(
      "a forward page has no more records than requested",
      page.records.length <= max,
      true,
    )
    records.push(...page.records)
    if (page.next === undefined) return records
    yield* expectEqual(
      "a forward page that is not the last has records",
      page.records.length > 0,
      true,
    )
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
    yield* expectEqual(
      "a backward page has no more records than requested",
      page.records.length <= max,
      true,
    )
    records = [...page.records, ...records]
    if (page.next === undefined) return records
    yield* expectEqual(
      "a backward page that is not the last has records",
      page.records.length > 0,
      true,
    )
    before = page.next
  }
})

/** A log that is longer than one write, one page and one block of a file. */
const longLog = (meta = sampleMeta(1)) => ({
  first: firstRecords(meta),
  batches: [
    fullTurn(1),
    ...Array.from({ length: 60 }, (_, i) => exchange(9 + 3 * i, `words ${i}`)),
    exchange(189, "x".repeat(200_000)),
    exchange(192, 'odd \u0000\n\r\u2028\ud800 "\\ü🙂'),
    eventsFrom(195, [
      { type: "stream_error", message: "no image", refused_images: { skip: 0, count: 1 } },
    ]),
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

const forwardPages: Behaviour = {
  name: "appended records are read in order, in pages of any size",
  run: Effect.gen(function* () {
    const { id, records } = yield* stored()
    for (const max of [1, 7, 64, 10_000]) {
      yield* expectEqual(`records in pages of ${max}`, yield* readAll(id, max), records)
    }
  }),
}

const backwardPages: Behaviour = {
  name: "reading backward in pages of any size returns each page in the order of the log",
  run: Effect.gen(function* () {
    const { id, records } = yield* stored()
    for (const max of [1, 7, 64, 10_000]) {
      yield* expectEqual(
        `records in backward pages of ${max}`,
        yield* readAllBackward(id, max),
        records,
      )
    }
  }),
}

const positions: Behaviour = {
  name: "positionOf returns the position directly before the record of an event, and undefined for other numbers",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const { id, records } = yield* stored()
    for (const seq of [0, 1, 5, 8, 9, 100, 188, 191, 194, 195]) {
      const from = yield* store.positionOf(id, seq)
      const page = yield* store.read(id, { ...(from === undefined ? {} : { from }), max: 1 })
      const expected = records.find((r) => r._tag === "Event" && r.event.seq === seq)
      yield* expectEqual(`record behind the position of event ${seq}`, page.records, [expected])
      const before = yield* store.readBackward(id, {
        ...(from === undefined ? {} : { before: from }),
        max: 1,
      })
      const at = expected === undefined ? -1 : records.indexOf(expected)
      yield* expectEqual(
        `record before the position of event ${seq}`,
        before.records,
        at > 0 ? [records[at - 1]] : [],
      )
    }
    yield* expectEqual(
      "position of an event that does not exist",
      yield* store.positionOf(id, 196),
      undefined,
    )
  }),
}

const positionsWhileGrowing: Behaviour = {
  name: "a position stays valid while the log grows",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const { id, records, writer } = yield* stored()
    const place = yield* store.positionOf(id, 50)
    const more = exchange(196, "more")
    yield* writer.append(more, "written")
    const whole = [...records, ...more]
    const at = whole.findIndex((r) => r._tag === "Event" && r.event.seq === 50)
    const page = yield* store.read(id, {
      ...(place === undefined ? {} : { from: place }),
      max: 10_000,
    })
    yield* expectEqual("records from the position to the end", page.records, whole.slice(at))
    yield* expectEqual("next position of the last page", page.next, undefined)
  }),
}

const emptyBatch: Behaviour = {
  name: "appending an empty batch changes nothing",
  run: Effect.gen(function* () {
    const { id, records, writer } = yield* stored()
    yield* writer.append([], "synced")
    yield* expectEqual("records after an empty batch", yield* readAll(id, 100), records)
  }),
}

const separateLogs: Behaviour = {
  name: "records of conversations that are written at the same time do not mix",
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
      yield* expectEqual(`records of conversation ${i}`, found, [
        ...firstRecords(meta),
        ...expected.flat(),
      ])
    }
  }),
}

const takenId: Behaviour = {
  name: "creating a conversation whose id is taken fails and leaves the existing one unchanged",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const meta = sampleMeta(1)
    yield* Effect.scoped(store.create(meta, firstRecords(meta)))
    const again = { ...meta, cwd: "/elsewhere" }
    const error = yield* expectFailure(
      "create with an id that is taken",
      "StoreError",
      store.create(again, []),
    )
    yield* expectEqual("reason of the error", error.reason, "Exists")
    yield* expectEqual(
      "records of the existing conversation",
      yield* readAll(meta.id, 10),
      firstRecords(meta),
    )
  }),
}

const unknownId: Behaviour = {
  name: "every operation on an unknown id fails with NoSuchConversation",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const { id } = sampleMeta(9)
    const none = "NoSuchConversation"
    yield* expectFailure("open of an unknown id", none, store.open({ id }))
    yield* expectFailure("read of an unknown id", none, store.read(id, { max: 1 }))
    yield* expectFailure("readBackward of an unknown id", none, store.readBackward(id, { max: 1 }))
    yield* expectFailure("positionOf of an unknown id", none, store.positionOf(id, 0))
    yield* expectFailure("metadata of an unknown id", none, store.metadata({ id }))
    yield* expectFailure("archive of an unknown id", none, store.archive(id))
    yield* expectFailure("unarchive of an unknown id", none, store.unarchive(id))
    yield* expectFailure("delete of an unknown id", none, store.delete(id))
  }),
}

const metadata: Behaviour = {
  name: "metadata returns what was stored, the first user message as preview, and the time of the last record",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const meta = sampleMeta(1, {
      instructions: "be kind",
      source: "mcp",
      forkedFrom: sampleMeta(2).id,
      owner: "ann",
      git: { branch: "main", commitHash: "abc", repositoryUrl: "https://example.org/r" },
    })
    const writer = yield* store.create(meta, firstRecords(meta))
    const silent = yield* store.metadata({ id: meta.id })
    yield* expectEqual("metadata", silent.meta, meta)
    yield* expectEqual("preview before the first user message", silent.preview, undefined)
    const words = eventsFrom(1, [
      { type: "user_message", message: "<environment_context>", kind: "environment_context" },
      userMessage(`  first\n\n words ${"long ".repeat(1000)}`),
      userMessage("second words"),
    ])
    yield* writer.append(words, "synced")
    const summary = yield* store.metadata({ id: meta.id })
    yield* expectEqual(
      "beginning of the preview",
      summary.preview?.slice(0, 16),
      "first words long",
    )
    yield* expectEqual(
      "the preview has at most 1024 UTF-16 code units",
      (summary.preview ?? "").length <= 1024,
      true,
    )
    yield* expectEqual("time of the last record", summary.updatedAtMs, words.at(-1)?.atMs)
    yield* expectEqual("archived", summary.archived, false)
  }),
}

/** The cases about appending and reading. */
export const logCases: ReadonlyArray<Behaviour> = [
  forwardPages,
  backwardPages,
  positions,
  positionsWhileGrowing,
  emptyBatch,
  separateLogs,
  takenId,
  unknownId,
  metadata,
]
