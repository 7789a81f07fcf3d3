/** Conformance: lists, and what is put away. */
import { ConversationStore, type ListQuery } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import { type Behaviour, expectFailure, expectEqual } from "./Expectations.ts"
import { readAll } from "./LogCases.ts"
import { exchange, firstRecords, sampleMeta } from "./SampleRecords.ts"

/** Ids of a list, page by page. */
const listAll = Effect.fnUntraced(function* (
  query: Omit<ListQuery, "limit" | "after">,
  limit: number,
) {
  const store = yield* ConversationStore
  const ids: Array<string> = []
  let after: ListQuery["after"]
  for (;;) {
    const page = yield* store.list({ ...query, limit, ...(after === undefined ? {} : { after }) })
    yield* expectEqual("no more than asked for", page.items.length <= limit, true)
    ids.push(...page.items.map(({ meta }) => meta.id))
    if (page.next === undefined) return ids
    after = page.next
  }
})

/** Ten, of which the last three were made in the same millisecond. */
const metas = Array.from({ length: 10 }, (_, i) =>
  sampleMeta(i, {
    cwd: i % 2 === 0 ? "/even" : "/odd",
    provider: i < 5 ? "one" : "two",
    ...(i < 7 ? {} : { createdAtMs: sampleMeta(7).createdAtMs }),
  }),
)

const idsOf = (numbers: ReadonlyArray<number>) => numbers.map((i) => metas[i]?.id ?? "")

/** All but the last two have said something. */
const createAll = Effect.gen(function* () {
  const store = yield* ConversationStore
  for (const [i, meta] of metas.entries()) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const writer = yield* store.create(meta, firstRecords(meta))
        if (i < 8) yield* writer.append(exchange(1, `Words NUMBER ${i} 100%_é`), "written")
      }),
    )
  }
})

const newestFirst = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

export const listCases: ReadonlyArray<Behaviour> = [
  {
    name: "the file of a conversation is known before it is made, or there is none",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const meta = sampleMeta(0)
      const place = yield* store.placeOf?.(meta) ?? Effect.succeed(undefined)
      yield* Effect.scoped(store.create(meta, firstRecords(meta)))
      yield* expectEqual("its file", (yield* store.metadata({ id: meta.id })).path, place)
    }),
  },
  {
    name: "a list is newest first, in pages of any size",
    run: Effect.gen(function* () {
      yield* createAll
      for (const limit of [1, 3, 10, 100]) {
        yield* expectEqual(`pages of ${limit}`, yield* listAll({}, limit), idsOf(newestFirst))
      }
    }),
  },
  {
    name: "a list keeps to its filters",
    run: Effect.gen(function* () {
      yield* createAll
      const list = (query: Omit<ListQuery, "limit" | "after">) => listAll(query, 2)
      yield* expectEqual("cwd", yield* list({ cwd: "/even" }), idsOf([8, 6, 4, 2, 0]))
      yield* expectEqual("provider", yield* list({ provider: "one" }), idsOf([4, 3, 2, 1, 0]))
      yield* expectEqual("spoken", yield* list({ spoken: true }), idsOf([7, 6, 5, 4, 3, 2, 1, 0]))
      yield* expectEqual("text", yield* list({ text: "number 3" }), idsOf([3]))
      yield* expectEqual(
        "text as it stands",
        yield* list({ text: "100%_É" }),
        idsOf([7, 6, 5, 4, 3, 2, 1, 0]),
      )
      yield* expectEqual("no wildcards", yield* list({ text: "w%s" }), [])
      yield* expectEqual(
        "together",
        yield* list({ cwd: "/odd", provider: "two", spoken: true }),
        idsOf([7, 5]),
      )
      yield* expectEqual("archived", yield* list({ archived: true }), [])
    }),
  },
  {
    name: "a list tells what was said first, also of a conversation that is being written",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const meta = sampleMeta(1)
      const writer = yield* store.create(meta, firstRecords(meta))
      const before = yield* store.list({ limit: 5, spoken: true })
      yield* expectEqual("silent", before.items, [])
      yield* writer.append(exchange(1, "hello there"), "written")
      const { items } = yield* store.list({ limit: 5, spoken: true, text: "HELLO" })
      yield* expectEqual(
        "spoken",
        items.map(({ preview }) => preview),
        ["hello there"],
      )
    }),
  },
  {
    name: "what is archived leaves the list for another one, can be read, and comes back",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      yield* createAll
      const [id] = metas.map((meta) => meta.id)
      if (id === undefined) return
      yield* store.archive(id)
      yield* store.archive(id)
      yield* expectEqual("archived", yield* listAll({ archived: true }, 3), [id])
      yield* expectEqual("the rest", yield* listAll({}, 3), idsOf(newestFirst.slice(0, -1)))
      yield* expectEqual("told", (yield* store.metadata({ id })).archived, true)
      yield* expectEqual("read", (yield* readAll(id, 100)).length, 5)
      yield* store.unarchive(id)
      yield* store.unarchive(id)
      yield* expectEqual("back", yield* listAll({}, 3), idsOf(newestFirst))
      yield* expectEqual("none", yield* listAll({ archived: true }, 3), [])
    }),
  },
  {
    name: "what is deleted is gone, archived or not, and its id is free",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      yield* createAll
      const [first, second] = metas
      if (first === undefined || second === undefined) return
      yield* store.archive(second.id)
      for (const { id } of [first, second]) {
        yield* store.delete(id)
        yield* expectFailure("read", "NoSuchConversation", store.read(id, { max: 1 }))
        yield* expectFailure("again", "NoSuchConversation", store.delete(id))
      }
      yield* expectEqual("listed", yield* listAll({}, 3), idsOf(newestFirst.slice(0, -2)))
      yield* Effect.scoped(store.create(first, firstRecords(first)))
      yield* expectEqual("anew", yield* readAll(first.id, 10), firstRecords(first))
    }),
  },
]
