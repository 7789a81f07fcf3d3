import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  created,
  errorOf,
  eventsOf,
  hello,
  listening,
  outline,
  resultOf,
  say,
  unknownId,
  type Refusal,
  withApp,
} from "../../support/AppHarness.ts"

const notFound = (id: string) => ({ code: -32600, message: `subscription not found: ${id}` })

const slow = Script.reply(
  Script.deltas("a"),
  Script.delay("1 second"),
  Script.deltas("b"),
  Script.delay("1 second"),
)

describe("removeConversationListener", () => {
  it.effect("in the middle of a turn nothing of the subscription follows the response", () =>
    withApp({ script: () => slow }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const subscriptionId = yield* listening(app, conversationId)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        const before = eventsOf(app).length
        assert.isAbove(before, 0)
        const answer = yield* app.ask("away", "removeConversationListener", { subscriptionId })
        assert.deepStrictEqual(resultOf(answer), {})
        yield* TestClock.adjust("5 seconds")
        yield* app.quiet
        assert.strictEqual(eventsOf(app).length, before)
        assert.strictEqual(outline(app).at(-1), "answer away")
      }),
    ),
  )

  it.effect("succeeds once; the id may be in upper case", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const subscriptionId = (yield* listening(app, yield* created(app))).toUpperCase()
        const params = { subscriptionId }
        assert.deepStrictEqual(
          resultOf(yield* app.ask(1, "removeConversationListener", params)),
          {},
        )
        assert.deepStrictEqual(
          errorOf(yield* app.ask(2, "removeConversationListener", params)),
          notFound(subscriptionId),
        )
      }),
    ),
  )

  it.effect("a listener of an ended conversation can still be removed, once", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const subscriptionId = yield* listening(app, conversationId)
        yield* Effect.orDie(app.manager.remove(conversationId))
        yield* app.quiet
        const ask = (id: number) => app.ask(id, "removeConversationListener", { subscriptionId })
        assert.deepStrictEqual(resultOf(yield* ask(1)), {})
        assert.deepStrictEqual(errorOf(yield* ask(2)), notFound(subscriptionId))
      }),
    ),
  )

  it.effect("does not find a listener of another connection, which continues", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const subscriptionId = yield* listening(app, conversationId)
        const other = yield* app.another
        yield* hello(other)
        assert.deepStrictEqual(
          errorOf(yield* other.ask(1, "removeConversationListener", { subscriptionId })),
          notFound(subscriptionId),
        )
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.isAbove(eventsOf(app).length, 0)
      }),
    ),
  )

  it.effect("does not find a listener of a closed connection", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const other = yield* app.another
        yield* hello(other)
        const subscriptionId = yield* listening(other, conversationId)
        yield* other.connection.drop
        yield* app.quiet
        assert.deepStrictEqual(
          errorOf(yield* app.ask(1, "removeConversationListener", { subscriptionId })),
          notFound(subscriptionId),
        )
      }),
    ),
  )

  it.effect.each([
    [{ subscriptionId: unknownId }, notFound(unknownId).message],
    [{ subscriptionId: "x" }, "Invalid request: params.subscriptionId: expected a UUID"],
    [{ subscriptionId: 4 }, "Invalid request: params.subscriptionId: Expected string"],
    [undefined, "Invalid request: params.subscriptionId: Missing key"],
  ] as ReadonlyArray<Refusal>)("refuses %j", ([params, text]) =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "removeConversationListener", params))
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(text), String(message))
      }),
    ),
  )
})
