import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { HostPort } from "../src/app/HostPort.ts"
import {
  created,
  errorOf,
  eventsOf,
  hello,
  listening,
  liveTurn,
  resultOf,
  say,
  seqsOf,
  typesOf,
  withApp,
} from "./support/AppHarness.ts"

describe("AppServer", () => {
  it.effect("L13 bad input gets a code and a text, and the connection goes on", () =>
    withApp({}, (app) =>
      Effect.gen(function* () {
        const before = app.messages.length
        yield* app.sendTexts(
          "{",
          "[]",
          "17",
          '{"id":{},"method":"x"}',
          '{"id":1,"method":4}',
          '{"id":2,"method":"noSuchMethod"}',
          '{"id":3,"method":"initialized"}',
          '{"method":"noSuchNotification","params":{}}',
          '{"id":99,"result":{}}',
        )
        yield* app.quiet
        assert.deepStrictEqual(
          app.messages.slice(before).map(({ error, id }) => [id, error?.code]),
          [
            [null, -32700],
            [null, -32600],
            [null, -32600],
            [null, -32600],
            [1, -32600],
            [2, -32600],
            [3, -32600],
          ],
        )
        resultOf(yield* app.ask(4, "newConversation"))
      }),
    ),
  )

  it.effect("L1 at the end of the input what is open is answered", () =>
    withApp({ script: () => Script.reply(Script.hang) }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "hi")
        yield* app.send({ id: 1, method: "interruptConversation", params: { conversationId } })
        yield* app.connection.close
        yield* TestClock.adjust("5 seconds")
        yield* app.quiet
        assert.isDefined(yield* app.response(1))
      }),
    ),
  )

  it.effect("conversations live on when their client leaves, and it misses nothing", () =>
    withApp({ script: () => Script.reply(Script.delay("1 second"), Script.text("late")) }, (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        const conversationId = yield* created(other)
        yield* listening(other, conversationId, { after: -1 })
        yield* say(other, conversationId, "hi")
        yield* app.quiet
        const after = Math.max(...seqsOf(other))
        yield* other.connection.drop
        yield* TestClock.adjust("5 seconds")
        yield* app.quiet
        yield* listening(app, conversationId, { after })
        yield* app.quiet
        assert.deepStrictEqual(typesOf(app), ["agent_message", "token_count", "task_complete"])
      }),
    ),
  )

  it.effect("100 conversations at once over one connection: each hears its own", () =>
    withApp(
      { script: ({ lastUserText }) => Script.reply(Script.text(`to ${lastUserText}`)) },
      (app) =>
        Effect.gen(function* () {
          const names = Array.from({ length: 100 }, (_, i) => i)
          const ids = yield* Effect.forEach(
            names,
            (i) =>
              Effect.gen(function* () {
                const id = yield* created(app, {}, `new ${i}`)
                yield* listening(app, id, {}, `listen ${i}`)
                yield* say(app, id, `number ${i}`, {}, `say ${i}`)
                return id
              }),
            { concurrency: "unbounded" },
          )
          yield* app.quiet
          for (const [i, id] of ids.entries()) {
            const own = eventsOf(app).filter(({ params }) => params?.["conversationId"] === id)
            assert.deepStrictEqual(
              own.map(({ method }) => method?.slice("codex/event/".length)),
              liveTurn,
            )
            assert.deepStrictEqual(own.at(-1)?.params?.["msg"], {
              type: "task_complete",
              last_agent_message: `to number ${i}`,
            })
          }
        }),
    ),
  )

  it.effect("L1 an id that is in flight is refused, and the first one stays", () =>
    withApp({ ports: { host: { ...HostPort.none, searchFiles: () => Effect.never } } }, (app) =>
      Effect.gen(function* () {
        const params = { query: "x", roots: [] }
        yield* app.send({ id: 1, method: "fuzzyFileSearch", params })
        const { code, message } = errorOf(yield* app.ask(1, "getUserAgent"))
        assert.strictEqual(code, -32600)
        assert.include(String(message), "still in flight")
        assert.strictEqual(app.messages.filter(({ id }) => id === 1).length, 1)
      }),
    ),
  )
})
