import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { created, errorOf, resultOf, say, withApp } from "../../support/AppHarness.ts"
import type { Harness } from "../../support/Harness.ts"
import * as PathStore from "../../support/PathStore.ts"

const store = PathStore.layer

/** Three conversations, one of them without a message; oldest first. */
const three = Effect.fnUntraced(function* (app: Harness) {
  const ids: Array<string> = []
  for (const [index, words] of ["A", "", "look at this ## My request for Codex: B "].entries()) {
    yield* TestClock.adjust("1 second")
    const id = yield* created(app, {}, `new ${index}`)
    ids.push(id)
    if (words !== "") yield* say(app, id, words, {}, `say ${index}`)
    yield* app.quiet
  }
  return ids
})

const ask = (app: Harness, id: unknown, params?: object) =>
  Effect.map(app.ask(id, "listConversations", params), resultOf)

describe("listConversations", () => {
  it.effect("lists the conversations that have a message, newest first", () =>
    withApp({ store }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* ask(app, 0), { items: [] })
        const [a = "", , b = ""] = yield* three(app)
        const items = [
          {
            conversationId: b,
            path: PathStore.pathOf(b),
            preview: "B",
            timestamp: "1970-01-01T00:00:03.000Z",
          },
          {
            conversationId: a,
            path: PathStore.pathOf(a),
            preview: "A",
            timestamp: "1970-01-01T00:00:01.000Z",
          },
        ]
        assert.deepStrictEqual(yield* ask(app, 1, {}), { items })
        assert.deepStrictEqual(yield* ask(app, 2, { cursor: "bogus", pageSize: null }), { items })
        assert.deepStrictEqual(yield* ask(app, 3, { pageSize: 0 }), { items: [] })
        const first = yield* ask(app, 4, { pageSize: 1 })
        assert.deepStrictEqual(first["items"], items.slice(0, 1))
        const cursor = first["nextCursor"]
        assert.deepStrictEqual(yield* ask(app, 5, { pageSize: 1, cursor }), {
          items: items.slice(1),
        })
      }),
    ),
  )

  it.effect.each([{ pageSize: -1 }, { pageSize: 1.5 }, { pageSize: "1" }, { cursor: 1 }])(
    "refuses %j",
    (params) =>
      withApp({ store }, (app) =>
        Effect.gen(function* () {
          const { code, message } = errorOf(yield* app.ask(1, "listConversations", params))
          assert.strictEqual(code, -32600)
          assert.isTrue(String(message).startsWith("Invalid request: params."), String(message))
        }),
      ),
  )
})
