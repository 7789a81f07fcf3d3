/** Conformance: listing, archiving and deleting conversations. */
import { ConversationStore, type ListQuery } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import { type Behaviour, expectFailure, expectEqual } from "./Expectations.ts"
import { readAll } from "./LogCases.ts"
import { exchange, firstRecords, sampleMeta } from "./SampleRecords.ts"

/** The ids of all pages of a list, in order. */
const listAll = Effect.fnUntraced(function* (
  query: Omit<ListQuery, "limit" | "after">,
  limit: number,
) {
  const store = yield* ConversationStore
  const ids: Array<string> = []
  let after: ListQuery["after"]
  for (;;) {
    const page = yield* store.list({ ...query, limit, ...(after === undefined ? {} : { after }) })
    yield* expectEqual("a page has no more items than its limit", page.items.length <= limit, true)
    ids.push(...page.items.map(({ meta }) => meta.id))
    if (page.next === undefined) return ids
    after = page.next
  }
})

/** Ten conversations; the last three were created in the same millisecond. */
const metas = Array.from({ length: 10 }, (_, i) =>
  sampleMeta(i, {
    cwd: i % 2 === 0 ? "/even" : "/odd",
    provider: i < 5 ? "one" : "two",
    ...(i === 3 || i === 4 ? { owner: "ann" } : {}),
    ...(i < 7 ? {} : { createdAtMs: sampleMeta(7).createdAtMs }),
  }),
)

const idsOf = (numbers: ReadonlyArray<number>) => numbers.map((i) => metas[i]?.id ?? "")

/** Creates the ten conversations. All but the last two have a user message. */
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

const plannedPath: Behaviour = {
  name: "placeOf returns the path of the file that create makes, or undefined when the store keeps no files",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const meta = sampleMeta(0)
    const place = yield* store.placeOf?.(meta) ?? Effect.succeed(undefined)
    yield* Effect.scoped(store.create(meta, firstRecords(meta)))
    yield* expectEqual(
      "path of the conversation",
      (yield* store.metadata({ id: meta.id })).path,
      place,
    )
  }),
}

const sortOrder: Behaviour = {
  name: "a list is sorted newest first, for every page size",
  run: Effect.gen(function* () {
    yield* createAll
    for (const limit of [1, 3, 10, 100]) {
      yield* expectEqual(`ids in pages of ${limit}`, yield* listAll({}, limit), idsOf(newestFirst))
    }
  }),
}

const filters: Behaviour = {
  name: "a list returns only conversations that match all filters",
  run: Effect.gen(function* () {
    yield* createAll
    const list = (query: Omit<ListQuery, "limit" | "after">) => listAll(query, 2)
    yield* expectEqual("filter cwd", yield* list({ cwd: "/even" }), idsOf([8, 6, 4, 2, 0]))
    yield* expectEqual("filter provider", yield* list({ provider: "one" }), idsOf([4, 3, 2, 1, 0]))
    yield* expectEqual("filter owner", yield* list({ owner: "ann" }), idsOf([4, 3]))
    yield* expectEqual(
      "filter no owner",
      yield* list({ owner: null }),
      idsOf([9, 8, 7, 6, 5, 2, 1, 0]),
    )
    yield* expectEqual("filter an owner without any", yield* list({ owner: "bob" }), [])
    yield* expectEqual(
      "filter withPreview",
      yield* list({ withPreview: true }),
      idsOf([7, 6, 5, 4, 3, 2, 1, 0]),
    )
    yield* expectEqual("filter text", yield* list({ text: "number 3" }), idsOf([3]))
    yield* expectEqual(
      "filter text matches case-insensitively and takes % and _ literally",
      yield* list({ text: "100%_É" }),
      idsOf([7, 6, 5, 4, 3, 2, 1, 0]),
    )
    yield* expectEqual("filter text has no wildcards", yield* list({ text: "w%s" }), [])
    yield* expectEqual(
      "several filters together",
      yield* list({ cwd: "/odd", provider: "two", withPreview: true }),
      idsOf([7, 5]),
    )
    yield* expectEqual(
      "filter archived, with nothing archived",
      yield* list({ archived: true }),
      [],
    )
  }),
}

const preview: Behaviour = {
  name: "a list shows the first user message, also of a conversation whose writer is open",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const meta = sampleMeta(1)
    const writer = yield* store.create(meta, firstRecords(meta))
    const before = yield* store.list({ limit: 5, withPreview: true })
    yield* expectEqual(
      "conversations with a preview before the first user message",
      before.items,
      [],
    )
    yield* writer.append(exchange(1, "hello there"), "written")
    const { items } = yield* store.list({ limit: 5, withPreview: true, text: "HELLO" })
    yield* expectEqual(
      "preview after the first user message",
      items.map(({ preview }) => preview),
      ["hello there"],
    )
  }),
}

const archiving: Behaviour = {
  name: "archiving moves a conversation to the archived list, leaves it readable, and can be undone; both are idempotent",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    yield* createAll
    const [id] = metas.map((meta) => meta.id)
    if (id === undefined) return
    yield* store.archive(id)
    yield* store.archive(id)
    yield* expectEqual("archived list after archive", yield* listAll({ archived: true }, 3), [id])
    yield* expectEqual(
      "unarchived list after archive",
      yield* listAll({}, 3),
      idsOf(newestFirst.slice(0, -1)),
    )
    yield* expectEqual(
      "metadata of an archived conversation",
      (yield* store.metadata({ id })).archived,
      true,
    )
    yield* expectEqual(
      "number of records of an archived conversation",
      (yield* readAll(id, 100)).length,
      5,
    )
    yield* store.unarchive(id)
    yield* store.unarchive(id)
    yield* expectEqual("unarchived list after unarchive", yield* listAll({}, 3), idsOf(newestFirst))
    yield* expectEqual("archived list after unarchive", yield* listAll({ archived: true }, 3), [])
  }),
}

const naming: Behaviour = {
  name: "a conversation is named, archived or not and while its writer is open; the last name counts, and searches find it",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    yield* createAll
    const [first, second] = metas
    if (first === undefined || second === undefined) return
    yield* store.archive(second.id)
    yield* store.rename(first.id, "Earlier")
    yield* Effect.scoped(
      Effect.andThen(store.open({ id: first.id }), store.rename(first.id, "Later É")),
    )
    yield* store.rename(second.id, "Archived 100%")
    yield* expectEqual("name in the metadata", (yield* store.metadata(first)).name, "Later É")
    yield* expectEqual(
      "name of an archived conversation",
      (yield* store.metadata(second)).name,
      "Archived 100%",
    )
    const { items } = yield* store.list({ limit: 5, text: "later" })
    yield* expectEqual(
      "conversations found by name",
      items.map(({ meta, name }) => [meta.id, name]),
      [[first.id, "Later É"]],
    )
    yield* expectEqual("an earlier name is not found", yield* listAll({ text: "earlier" }, 3), [])
    const opened = yield* Effect.scoped(store.open({ id: first.id }))
    yield* expectEqual("name of an opened conversation", opened.summary.name, "Later É")
    yield* store.delete(first.id)
    yield* expectFailure(
      "rename after delete",
      "NoSuchConversation",
      store.rename(first.id, "Deleted"),
    )
  }),
}

const deleting: Behaviour = {
  name: "deleting removes a conversation, archived or not, and frees its id",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    yield* createAll
    const [first, second] = metas
    if (first === undefined || second === undefined) return
    yield* store.archive(second.id)
    for (const { id } of [first, second]) {
      yield* store.delete(id)
      yield* expectFailure("read after delete", "NoSuchConversation", store.read(id, { max: 1 }))
      yield* expectFailure("delete after delete", "NoSuchConversation", store.delete(id))
    }
    yield* expectEqual("list after delete", yield* listAll({}, 3), idsOf(newestFirst.slice(0, -2)))
    yield* Effect.scoped(store.create(first, firstRecords(first)))
    yield* expectEqual(
      "records of a conversation created with the id of a deleted one",
      yield* readAll(first.id, 10),
      firstRecords(first),
    )
  }),
}

/** The cases about lists, archives and deletion. */
export const listCases: ReadonlyArray<Behaviour> = [
  plannedPath,
  sortOrder,
  filters,
  preview,
  archiving,
  naming,
  deleting,
]
