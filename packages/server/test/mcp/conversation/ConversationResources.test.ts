import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { created, echo, send } from "../../support/Conversing.ts"
import { allPages, codeOf, initialized, noticesOf, stateless } from "../../support/Featuring.ts"
import { type Harness, withServer } from "../../support/Harness.ts"

const uriOf = (id: string) => `colloquy://conversations/${id}`

const textOf = (server: Harness, id: unknown, uri: string) =>
  Effect.map(server.ask(id, "resources/read", { uri }), ({ result }) => {
    const all = result?.["contents"] as ReadonlyArray<Readonly<Record<string, unknown>>>
    const contents = all[0]
    assert.strictEqual(contents?.["uri"], uri)
    return { mimeType: contents?.["mimeType"], text: String(contents?.["text"]) }
  })

/** A conversation with one message and one answer. */
const talked = (server: Harness, id: string, words: string) =>
  Effect.gen(function* () {
    const conversation = yield* created(server, `create ${id}`)
    yield* send(server, `send ${id}`, conversation, words)
    yield* server.quiet
    return conversation
  })

/** Longer than the interval in which changes are combined into one notification. */
const pass = (server: Harness) => Effect.andThen(TestClock.adjust("1 second"), server.quiet)

const updated = (uri: string) => ({ method: "notifications/resources/updated", params: { uri } })
const listChanged = { method: "notifications/resources/list_changed", params: {} }

const notices = (server: Harness) =>
  noticesOf(server).filter(({ method }) => method.startsWith("notifications/resources/"))

describe("ConversationResources", () => {
  it.effect("lists each conversation, newest first, a page at a time, until it is removed", () =>
    withServer({ script: echo, pageSize: 2 }, (server) =>
      Effect.gen(function* () {
        const ids: Array<string> = []
        for (const words of ["one", "two", "three"]) {
          ids.unshift(yield* talked(server, words, words))
          yield* TestClock.adjust("1 second")
        }
        const { items, sizes } = yield* allPages(server, "resources/list", "resources")
        assert.deepStrictEqual(
          items,
          ids.map((id, i) => ({
            uri: uriOf(id),
            name: id,
            title: ["three", "two", "one"][i],
            mimeType: "application/json",
          })),
        )
        assert.deepStrictEqual(sizes, [2, 1])
        yield* server.call("remove", "conversationRemove", { conversation_id: ids[1] })
        const left = yield* allPages(server, "resources/list", "resources")
        assert.deepStrictEqual(
          left.items.map(({ name }) => name),
          [ids[0], ids[2]],
        )
      }),
    ),
  )

  it.effect("has the state and the items, as JSON and as Markdown", () =>
    withServer({ script: echo }, (server) =>
      Effect.gen(function* () {
        const id = yield* talked(server, "a", "hello")
        const json = yield* textOf(server, 1, uriOf(id))
        assert.strictEqual(json.mimeType, "application/json")
        const value = JSON.parse(json.text) as Readonly<Record<string, unknown>>
        const { events, total_tokens: _, ...rest } = value
        assert.isAbove(Number(events), 5)
        assert.deepStrictEqual(rest, {
          conversation_id: id,
          title: "hello",
          status: "idle",
          waiting_messages: 0,
          open_questions: 0,
          model: "mock-model",
          cwd: "/work",
          approval_policy: "on-request",
          items: [
            { type: "message", role: "user", text: "hello" },
            { type: "message", role: "assistant", text: "you said hello" },
          ],
        })
        assert.deepStrictEqual(yield* textOf(server, 2, `${uriOf(id)}/transcript.md`), {
          mimeType: "text/markdown",
          text: "# hello\n\n## User\n\nhello\n\n## Agent\n\nyou said hello\n",
        })
        const empty = yield* created(server, "empty")
        assert.strictEqual(
          (yield* textOf(server, 3, `${uriOf(empty)}/transcript.md`)).text,
          `# Conversation ${empty}\n`,
        )
      }),
    ),
  )

  it.effect.each(["0199-no-id", "", "01990000-0000-7000-8000-000000000000", "a/b"])(
    "%j does not exist, with the code of the revision",
    (id) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          for (const [n, uri] of [uriOf(id), `${uriOf(id)}/transcript.md`].entries()) {
            const old = yield* server.ask(`old ${n}`, "resources/read", { uri })
            assert.deepStrictEqual([codeOf(old), old.error?.data], [-32002, { uri }])
            const new_ = yield* server.ask(`new ${n}`, "resources/read", stateless({ uri }))
            assert.deepStrictEqual([codeOf(new_), new_.error?.data], [-32602, { uri }])
            const subscribe = yield* server.ask(`sub ${n}`, "resources/subscribe", { uri })
            assert.strictEqual(codeOf(subscribe), -32002)
          }
        }),
      ),
  )

  it.effect(
    "a conversation that cannot be loaded gives the reason, and is not reported as missing",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          const id = yield* talked(server, "a", "hello")
          yield* Effect.orDie(server.manager.archive(id))
          for (const method of ["resources/read", "resources/subscribe"]) {
            assert.deepStrictEqual((yield* server.ask(method, method, { uri: uriOf(id) })).error, {
              code: -32603,
              message: `conversation ${id} is not available: it is archived; unarchive it, or resume it by the path of its file`,
            })
          }
        }),
      ),
  )

  it.effect("completes ids by their beginning, newest first, 100 at most", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const ids: Array<string> = []
        for (let i = 0; i < 101; i++) {
          ids.unshift(yield* created(server, `c${i}`))
          yield* TestClock.adjust("1 second")
        }
        const complete = (id: number, value: string, uri: string) =>
          Effect.map(
            server.ask(id, "completion/complete", {
              ref: { type: "ref/resource", uri },
              argument: { name: "id", value },
            }),
            ({ result }) => result?.["completion"],
          )
        const form = uriOf("{id}")
        assert.deepStrictEqual(yield* complete(1, "", form), {
          values: ids.slice(0, 100),
          hasMore: true,
        })
        const [, , wanted = ""] = ids
        assert.deepStrictEqual(yield* complete(2, wanted.toUpperCase(), `${form}/transcript.md`), {
          values: [wanted],
          total: 1,
          hasMore: false,
        })
        assert.deepStrictEqual(yield* complete(3, "zzz", form), {
          values: [],
          total: 0,
          hasMore: false,
        })
      }),
    ),
  )

  it.effect(
    "L2 a client that has read the list is notified of a new and of a removed conversation, after the response",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          yield* initialized(server)
          yield* talked(server, "before", "unseen")
          yield* pass(server)
          assert.deepStrictEqual(notices(server), [])
          yield* server.ask(1, "resources/list")
          const id = yield* created(server, "new")
          yield* created(server, "other")
          yield* pass(server)
          assert.deepStrictEqual(notices(server), [listChanged])
          const places = server.messages.flatMap(({ id: of, method }, i) =>
            of === "new" || method === listChanged.method ? [i] : [],
          )
          assert.strictEqual(server.messages[places[0] ?? 0]?.id, "new")
          yield* server.call(3, "conversationRemove", { conversation_id: id })
          yield* pass(server)
          assert.deepStrictEqual(notices(server), [listChanged, listChanged])
        }),
      ),
  )

  it.effect(
    "a subscriber is notified of a turn a few times at most, of its end, and of no other conversation",
    () =>
      withServer({ script: echo }, (server) =>
        Effect.gen(function* () {
          yield* initialized(server)
          const id = yield* created(server, "a")
          const other = yield* created(server, "b")
          yield* server.ask(1, "resources/subscribe", { uri: uriOf(id) })
          yield* pass(server)
          assert.deepStrictEqual(notices(server), [])
          yield* send(server, "m", id, "hello")
          yield* send(server, "n", other, "hello")
          yield* pass(server)
          assert.deepStrictEqual(notices(server), [updated(uriOf(id))])
          yield* server.call(2, "conversationRemove", { conversation_id: id })
          yield* pass(server)
          assert.deepStrictEqual(notices(server), [updated(uriOf(id)), updated(uriOf(id))])
          yield* server.ask(3, "resources/unsubscribe", { uri: uriOf(id) })
        }),
      ),
  )
})
