/** The methods of app-server v2 that read threads, turns and items, in pages and whole. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { errorOf, resultOf, unknownId } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import * as PathStore from "../support/PathStore.ts"
import { at, started, told, turn, withThreads } from "../support/Threading.ts"

const answers = (...texts: ReadonlyArray<string>): Script.ProviderScript =>
  texts.map((text) => Script.reply(Script.text(text)))

/** Runs one turn for each text, and resolves with the id of the thread and those of the turns. */
const talked = (app: Harness, ...texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const threadId = yield* started(app, {}, `start ${texts.join()}`)
    const turnIds: Array<string> = []
    for (const text of texts) {
      turnIds.push(yield* turn(app, threadId, text, {}, `turn ${threadId} ${text}`))
      yield* app.quiet
    }
    return { threadId, turnIds }
  })

const listOf = (value: unknown, ...path: ReadonlyArray<string | number>) =>
  at(value, ...path) as ReadonlyArray<unknown>

const idsOf = (result: unknown) => listOf(result, "data").map((one) => at(one, "id"))

let next = 0
const result = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`list ${next++}`, method, params), resultOf)

const fault = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`list ${next++}`, method, params), errorOf)

describe("thread/read", () => {
  it.effect("reads a thread, with its turns only on request", () =>
    withThreads({ script: answers("one", "two") }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnIds } = yield* talked(app, "first", "second")
        const without = yield* result(app, "thread/read", { threadId })
        assert.deepStrictEqual(at(without, "thread", "turns"), [])
        assert.strictEqual(at(without, "thread", "preview"), "first")
        const { thread } = yield* result(app, "thread/read", { threadId, includeTurns: true })
        assert.deepStrictEqual(
          listOf(thread, "turns").map((one) => [at(one, "id"), at(one, "status")]),
          turnIds.map((id) => [id, "completed"]),
        )
      }),
    ),
  )

  it.effect("L1 every one of many reads at once gets the thread", () =>
    withThreads({ script: answers("one") }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnIds } = yield* talked(app, "first")
        const reads = yield* Effect.forEach(
          Array.from({ length: 60 }),
          () => result(app, "thread/read", { threadId, includeTurns: true }),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(
          reads.map((one) => at(one, "thread", "turns", 0, "id")),
          reads.map(() => turnIds[0]),
        )
      }),
    ),
  )

  it.effect("an id that is none, and one of no thread, are errors", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const bad = yield* fault(app, "thread/read", { threadId: "x" })
        assert.strictEqual(bad.code, -32600)
        assert.match(String(bad.message), /^invalid thread id: /)
        const unknown = yield* fault(app, "thread/read", { threadId: unknownId })
        assert.strictEqual(unknown.message, `thread not loaded: ${unknownId}`)
      }),
    ),
  )
})

describe("thread/list", () => {
  it.effect("lists threads with a turn, newest first, in pages of both directions", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        yield* started(app, {}, "empty")
        const ids: Array<string> = []
        for (const name of ["a", "b", "c"]) ids.unshift((yield* talked(app, name)).threadId)
        assert.deepStrictEqual(idsOf(yield* result(app, "thread/list", {})), ids)
        const page = yield* result(app, "thread/list", { limit: 2 })
        assert.deepStrictEqual(idsOf(page), ids.slice(0, 2))
        const rest = yield* result(app, "thread/list", { limit: 2, cursor: page["nextCursor"] })
        assert.deepStrictEqual(idsOf(rest), ids.slice(2))
        assert.isNull(rest["nextCursor"])
        const back = yield* result(app, "thread/list", {
          cursor: rest["backwardsCursor"],
          sortDirection: "asc",
        })
        assert.deepStrictEqual(idsOf(back), ids.toReversed())
        for (const cursor of [rest["backwardsCursor"], page["backwardsCursor"]]) {
          const again = yield* result(app, "thread/list", { cursor })
          assert.deepStrictEqual(
            idsOf(again),
            ids.slice(cursor === rest["backwardsCursor"] ? 2 : 0),
          )
        }
        const ascending = { sortDirection: "asc", sortKey: "updated_at" }
        assert.deepStrictEqual(
          idsOf(yield* result(app, "thread/list", ascending)),
          ids.toReversed(),
        )
        const zero = yield* result(app, "thread/list", { limit: 0 })
        assert.lengthOf(listOf(zero, "data"), 1)
      }),
    ),
  )

  it.effect("filters by text, directory, provider, archive and exclusion", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { threadId: kept } = yield* talked(app, "find the needle")
        const { threadId: other } = yield* talked(app, "something else")
        const found = (params: object) => Effect.map(result(app, "thread/list", params), idsOf)
        assert.deepStrictEqual(yield* found({ searchTerm: "NEEDLE" }), [kept])
        assert.deepStrictEqual(yield* found({ cwd: "/work" }), [other, kept])
        assert.deepStrictEqual(yield* found({ cwd: ["/elsewhere"] }), [])
        assert.deepStrictEqual(yield* found({ modelProviders: ["mock_provider"] }), [other, kept])
        assert.deepStrictEqual(yield* found({ modelProviders: ["none"] }), [])
        assert.deepStrictEqual(yield* found({ excludedThreadIds: [other] }), [kept])
        assert.deepStrictEqual(yield* found({ sourceKinds: ["cli"] }), [])
        yield* result(app, "thread/archive", { threadId: other })
        assert.deepStrictEqual(yield* found({}), [kept])
        assert.deepStrictEqual(yield* found({ archived: true }), [other])
      }),
    ),
  )

  it.effect("no thread has a parent, a project or a section", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app, "a")
        for (const filter of ["parentThreadId", "projectId", "sectionId"]) {
          const page = yield* result(app, "thread/list", { [filter]: threadId })
          assert.deepStrictEqual(
            [page.data, page.nextCursor, page.backwardsCursor],
            [[], null, null],
            filter,
          )
        }
      }),
    ),
  )

  it.effect("an error repeats the beginning of a long cursor only", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const cursor = "x".repeat(5000)
        for (const method of ["thread/list", "thread/loaded/list", "model/list"]) {
          const { message } = yield* fault(app, method, { cursor })
          assert.match(String(message), /^invalid cursor: x{200}…$/, method)
        }
      }),
    ),
  )

  it.effect("a cursor that is none, and a filter that is not served, are errors", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const cursor = yield* fault(app, "thread/list", { cursor: "nope" })
        assert.strictEqual(cursor.message, "invalid cursor: nope")
        const originators = yield* fault(app, "thread/list", { originators: ["x"] })
        assert.deepStrictEqual(originators, {
          code: -32602,
          message: "originator filtering is not supported by the local app-server",
        })
      }),
    ),
  )
})

describe("thread/turns/list", () => {
  it.effect("pages through the turns, newest first, with as much of the items as asked for", () =>
    withThreads({ script: answers("one", "two", "three") }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnIds } = yield* talked(app, "a", "b", "c")
        const newest = turnIds.toReversed()
        const all = yield* result(app, "thread/turns/list", { threadId })
        assert.deepStrictEqual(idsOf(all), newest)
        assert.strictEqual(at(all, "data", 0, "itemsView"), "summary")
        const page = yield* result(app, "thread/turns/list", { threadId, limit: 2 })
        const rest = { threadId, cursor: page["nextCursor"] }
        assert.deepStrictEqual(
          idsOf(yield* result(app, "thread/turns/list", rest)),
          newest.slice(2),
        )
        for (const [itemsView, items] of [
          ["notLoaded", 0],
          ["summary", 2],
          ["full", 2],
        ] as const) {
          const viewed = yield* result(app, "thread/turns/list", { threadId, itemsView })
          assert.strictEqual(at(viewed, "data", 0, "itemsView"), itemsView)
          assert.lengthOf(listOf(viewed, "data", 0, "items"), items)
        }
        const bad = yield* fault(app, "thread/turns/list", { threadId, cursor: "x" })
        assert.strictEqual(bad.message, "invalid cursor: x")
      }),
    ),
  )
})

describe("thread/items/list", () => {
  it.effect("lists the items that were notified, of the thread and of one turn", () =>
    withThreads({ script: answers("one", "two") }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnIds } = yield* talked(app, "a", "b")
        const live = told(app, "item/completed").map((one) => at(one, "item"))
        const all = yield* result(app, "thread/items/list", { threadId })
        assert.deepStrictEqual(
          listOf(all, "data").map((one) => at(one, "item")),
          live,
        )
        const [turnId] = turnIds
        const ofTurn = yield* result(app, "thread/items/list", { threadId, turnId })
        assert.deepStrictEqual(
          listOf(ofTurn, "data").map((one) => at(one, "item")),
          live.slice(0, 2),
        )
        const page = yield* result(app, "thread/items/list", { threadId, limit: 3 })
        const rest = { threadId, cursor: page["nextCursor"] }
        assert.deepStrictEqual(
          listOf(yield* result(app, "thread/items/list", rest), "data").map((one) =>
            at(one, "item"),
          ),
          live.slice(3),
        )
      }),
    ),
  )
})

describe("thread/loaded/list", () => {
  it.effect("lists the threads in memory, in pages", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* result(app, "thread/loaded/list", {}), {
          data: [],
          nextCursor: null,
        })
        const ids = [yield* started(app, {}, "one"), yield* started(app, {}, "two")]
        const all = yield* result(app, "thread/loaded/list", {})
        assert.sameMembers([...listOf(all, "data")], ids)
        const page = yield* result(app, "thread/loaded/list", { limit: 1 })
        const rest = yield* result(app, "thread/loaded/list", { cursor: page["nextCursor"] })
        assert.sameMembers([...listOf(page, "data"), ...listOf(rest, "data")], ids)
      }),
    ),
  )
})

describe("getConversationSummary", () => {
  it.effect("describes a stored conversation as v1 does", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* talked(app, "hello there")
        const params = { conversationId: threadId }
        const { summary } = yield* result(app, "getConversationSummary", params)
        assert.strictEqual(at(summary, "conversationId"), threadId)
        assert.strictEqual(at(summary, "preview"), "hello there")
        const none = { conversationId: unknownId }
        const unknown = yield* fault(app, "getConversationSummary", none)
        assert.strictEqual(unknown.message, `no rollout found for conversation id ${unknownId}`)
      }),
    ),
  )

  it.effect(
    "a path that is no rollout file's is an error of the client that names the member",
    () =>
      withThreads({ store: PathStore.layer }, (app) =>
        Effect.gen(function* () {
          const { threadId } = yield* talked(app, "hello there")
          const params = { rolloutPath: PathStore.pathOf(threadId) }
          const { summary } = yield* result(app, "getConversationSummary", params)
          assert.strictEqual(at(summary, "conversationId"), threadId)
          for (const rolloutPath of [
            "",
            "rollout.jsonl",
            "/etc/passwd",
            PathStore.pathOf(unknownId),
          ]) {
            const { code, message } = yield* fault(app, "getConversationSummary", { rolloutPath })
            assert.strictEqual(code, -32600, rolloutPath)
            assert.match(message ?? "", /^rolloutPath: /)
          }
        }),
      ),
  )
})
