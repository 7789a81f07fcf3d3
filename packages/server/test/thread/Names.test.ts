/** The names of threads. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errorOf, resultOf, unknownId } from "../support/AppHarness.ts"
import { at, started, told, turn, withThreads } from "../support/Threading.ts"

describe("thread/name/set", () => {
  it.effect(
    "names a thread for every connection, in its description, in lists and in searches",
    () =>
      withThreads({}, (app) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* other.ask("hello", "initialize", { clientInfo: { name: "other", version: "1" } })
          yield* other.ask("list", "thread/loaded/list", {})
          const threadId = yield* started(app)
          const before = resultOf(yield* app.ask("read", "thread/read", { threadId }))
          assert.isNull(at(before, "thread", "name"))
          const params = { threadId, name: "  Fruit \n salad " }
          assert.deepStrictEqual(resultOf(yield* app.ask("set", "thread/name/set", params)), {})
          yield* turn(app, threadId)
          yield* app.quiet
          const expected = [{ threadId, threadName: "Fruit salad" }]
          for (const client of [app, other]) {
            assert.deepStrictEqual(told(client, "thread/name/updated"), expected)
          }
          const found = yield* app.ask("search", "thread/list", { searchTerm: "fruit" })
          assert.strictEqual(at(resultOf(found), "data", 0, "name"), "Fruit salad")
          const none = yield* app.ask("other", "thread/list", { searchTerm: "pears" })
          assert.deepStrictEqual(at(resultOf(none), "data"), [])
        }),
      ),
  )

  it.effect("an archived thread is named, and an ephemeral one is not", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* app.ask("archive", "thread/archive", { threadId })
        yield* app.ask("set", "thread/name/set", { threadId, name: "kept" })
        const read = resultOf(yield* app.ask("read", "thread/read", { threadId }))
        assert.strictEqual(at(read, "thread", "name"), "kept")
        const brief = yield* started(app, { ephemeral: true }, "brief")
        const refused = yield* app.ask("refused", "thread/name/set", {
          threadId: brief,
          name: "n",
        })
        assert.deepStrictEqual(errorOf(refused), {
          code: -32600,
          message: `ephemeral thread does not support metadata updates: ${brief}`,
        })
      }),
    ),
  )

  it.effect("a blank or long name, an unknown thread and a bad id are errors", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        let next = 0
        const message = (params: object) =>
          Effect.map(app.ask(`set ${next++}`, "thread/name/set", params), (got) =>
            String(errorOf(got).message),
          )
        assert.strictEqual(yield* message({ threadId, name: " " }), "thread name must not be empty")
        assert.strictEqual(
          yield* message({ threadId, name: "x".repeat(1001) }),
          "name: expected 1 to 1000 characters; got 1001",
        )
        assert.match(yield* message({ threadId: unknownId, name: "n" }), /^no rollout found/)
        assert.match(yield* message({ threadId: "x", name: "n" }), /^invalid thread id/)
        assert.match(yield* message({ threadId }), /name/)
      }),
    ),
  )
})
