/** Which turns of a thread the user has not seen. */
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { errorOf, resultOf, withApp } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const answers = ["one", "two", "three"].map((text) => Script.reply(Script.text(text)))

interface State {
  readonly firstUnread: unknown
  readonly revision: string
}

const readState = (app: Harness, threadId: string, id: string) =>
  Effect.map(
    app.ask(id, "thread/read", { threadId }),
    (answer) => resultOf(answer)["readState"] as State | null,
  )

const mark = (
  app: Harness,
  threadId: string,
  type: "read" | "unread",
  expectedRevision: string,
  id: unknown,
) => app.ask(id, "thread/readState/update", { threadId, operation: { type }, expectedRevision })

const changes = (app: Harness) =>
  told(app, "thread/readState/changed").map((params) => at(params, "readState") as State)

describe("thread/readState", () => {
  it.effect(
    "a turn with an answer is unread, and all subscribers are notified before its end",
    () =>
      withThreads({ script: answers }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          assert.isNull(yield* readState(app, threadId, "new"))
          const first = yield* turn(app, threadId)
          yield* app.quiet
          const sent = lines(app)
          assert.strictEqual(
            sent.indexOf("thread/readState/changed") + 1,
            sent.lastIndexOf("thread/status/changed idle"),
          )
          yield* turn(app, threadId, "more", {}, "second")
          yield* app.quiet
          const [one, two] = changes(app)
          assert.deepStrictEqual(one?.firstUnread, { type: "turn", turnId: first })
          assert.deepStrictEqual(two?.firstUnread, { type: "turn", turnId: first })
          assert.notStrictEqual(one?.revision, two?.revision)
          assert.deepStrictEqual(yield* readState(app, threadId, "read"), two)
        }),
      ),
  )

  it.effect(
    "marking it as read or unread notifies subscribers before the response, and only a change does",
    () =>
      withThreads({ script: answers }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const first = yield* turn(app, threadId)
          yield* app.quiet
          const other = yield* app.another
          yield* other.ask("hello", "initialize", {
            clientInfo: { name: "other", version: "1" },
            capabilities: { experimentalApi: true },
          })
          yield* other.ask("resume", "thread/resume", { threadId })
          const before = app.messages.length
          const revision = changes(app)[0]?.revision ?? ""
          const read = resultOf(yield* mark(app, threadId, "read", revision, "mark"))
          yield* app.quiet
          assert.deepStrictEqual(lines(app, before), ["thread/readState/changed", "answer mark"])
          const state = read["readState"] as State
          assert.isNull(state.firstUnread)
          assert.deepStrictEqual(changes(app).at(-1), state)
          assert.deepStrictEqual(changes(other), [state])
          const again = yield* mark(app, threadId, "read", state.revision, "again")
          assert.deepStrictEqual(resultOf(again), { readState: state })
          const unread = resultOf(yield* mark(app, threadId, "unread", state.revision, "back"))
          assert.deepStrictEqual(at(unread, "readState", "firstUnread"), { type: "threadStart" })
          const second = yield* turn(app, threadId, "more", {}, "second")
          yield* app.quiet
          assert.notStrictEqual(second, first)
          assert.deepStrictEqual(changes(app).at(-1)?.firstUnread, { type: "threadStart" })
        }),
      ),
  )

  it.effect("after it was read, the next turn is the first one that is unread", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        yield* mark(app, threadId, "read", changes(app)[0]?.revision ?? "", "mark")
        const second = yield* turn(app, threadId, "more", {}, "second")
        yield* app.quiet
        assert.deepStrictEqual(changes(app).at(-1)?.firstUnread, { type: "turn", turnId: second })
      }),
    ),
  )

  it.effect("an old revision is a conflict that tells the present state, and changes nothing", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const state = yield* readState(app, threadId, "read")
        for (const revision of ["-1", "1", "", "6433e945-9a82-4b53-9ce1-a595422bdd40"]) {
          const answer = yield* mark(app, threadId, "read", revision, `mark ${revision}`)
          assert.deepStrictEqual(answer.error, {
            code: -32600,
            message: "read state changed",
            data: { reason: "readStateConflict", readState: state },
          })
        }
        assert.deepStrictEqual(yield* readState(app, threadId, "again"), state)
      }),
    ),
  )

  it.effect("survives a restart, and lists show it without loading the thread", () =>
    Effect.gen(function* () {
      const store = Layer.succeed(
        ConversationStore,
        yield* Effect.provide(ConversationStore, yield* Layer.build(MemoryStore.layer)),
      )
      const first = yield* withThreads({ script: answers, store }, (app) =>
        Effect.gen(function* () {
          const [read, unread] = [yield* started(app), yield* started(app, {}, "other")]
          yield* turn(app, read, "one", {}, "turn one")
          yield* app.quiet
          yield* turn(app, unread, "two", {}, "turn two")
          yield* app.quiet
          const marked = yield* mark(app, read, "read", changes(app)[0]?.revision ?? "", "mark")
          const list = yield* app.ask("list", "thread/list", {})
          assert.deepStrictEqual(at(resultOf(list), "readStates"), {
            [read]: at(resultOf(marked), "readState"),
            [unread]: changes(app)[1],
          })
          return resultOf(list)["readStates"]
        }),
      )
      yield* withThreads({ script: answers, store }, (app) =>
        Effect.gen(function* () {
          for (const id of ["list", "from what was read"]) {
            const list = yield* app.ask(id, "thread/list", {})
            assert.deepStrictEqual(resultOf(list)["readStates"], first)
          }
          assert.deepStrictEqual(
            at(yield* app.ask("loaded", "thread/loaded/list", {}), "result", "data"),
            [],
          )
        }),
      )
    }).pipe(Effect.scoped),
  )

  it.effect("dropping turns marks what is left as read", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const first = yield* turn(app, threadId)
        yield* app.quiet
        yield* app.ask("revert", "thread/revert", { threadId, beforeTurnId: first })
        assert.isNull((yield* readState(app, threadId, "read"))?.firstUnread)
      }),
    ),
  )

  it.effect("an ephemeral thread has none, and an unknown one is an error", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app, { ephemeral: true })
        yield* turn(app, threadId)
        yield* app.quiet
        assert.deepStrictEqual(changes(app), [])
        assert.isNull(yield* readState(app, threadId, "read"))
        assert.strictEqual(
          errorOf(yield* mark(app, threadId, "read", "-1", "mark")).message,
          `ephemeral thread does not support metadata updates: ${threadId}`,
        )
        const unknown = "00000000-0000-4000-8000-000000000000"
        assert.strictEqual(
          errorOf(yield* mark(app, unknown, "read", "-1", "none")).message,
          `thread not found: ${unknown}`,
        )
      }),
    ),
  )

  it.effect("a client that has not declared experimentalApi is neither notified nor served", () =>
    withApp({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        assert.deepStrictEqual(changes(app), [])
        const list = yield* app.ask("list", "thread/list", {})
        assert.isNull(resultOf(list)["readStates"])
        assert.strictEqual(
          errorOf(yield* mark(app, threadId, "read", "-1", "mark")).message,
          "thread/readState/update requires experimentalApi capability",
        )
      }),
    ),
  )
})
