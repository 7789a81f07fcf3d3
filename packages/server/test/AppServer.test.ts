import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { HostPort } from "../src/app/ports/HostPort.ts"
import {
  created,
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
import { asking, exec, oneCall } from "./support/Asking.ts"
import type { Harness } from "./support/Harness.ts"

/** Whether the server has ended after that time. */
const leftAfter = (app: Harness, time: Duration.Input) =>
  app.quiet.pipe(
    Effect.andThen(TestClock.adjust(time)),
    Effect.andThen(app.quiet),
    Effect.map(() => app.server.pollUnsafe() !== undefined),
  )

/** The script of a turn that takes one second. */
const late = Script.reply(Script.delay("1 second"), Script.text("late"))

describe("AppServer", () => {
  it.effect("L13 bad input gets a code and a text, and the connection continues", () =>
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

  it.effect("L1 at the end of input pending requests are answered", () =>
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

  it.effect(
    "conversations continue when their client disconnects, and a returning client misses nothing",
    () =>
      withApp(
        { script: () => Script.reply(Script.delay("1 second"), Script.text("late")) },
        (app) =>
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

  it.effect(
    "100 conversations at once over one connection: each listener gets its own events",
    () =>
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

  it.effect("L1 an id that is in flight is rejected, and the first request continues", () =>
    withApp({ ports: { host: { ...HostPort.none, searchFiles: () => Effect.never } } }, (app) =>
      Effect.gen(function* () {
        const params = { query: "x", roots: [] }
        yield* app.send({ id: 1, method: "fuzzyFileSearch", params })
        yield* app.send({ id: 1, method: "getUserAgent" }, { id: 1, method: "noSuchMethod" })
        yield* app.quiet
        const refused = {
          code: -32600,
          message: "Invalid Request: the id 1 is in use by a request still in flight",
          data: { id: 1 },
        }
        assert.deepStrictEqual(app.messages.slice(-2), [
          { jsonrpc: "2.0", id: null, error: refused },
          { jsonrpc: "2.0", id: null, error: refused },
        ])
        assert.deepStrictEqual(
          app.messages.filter(({ id }) => id === 1),
          [],
        )
      }),
    ),
  )
})

describe("AppServer: the end of input", () => {
  const shutdownGrace = "2 seconds"

  it.effect(
    "L9 turns with a listener run to their end, and the server waits for nothing else",
    () =>
      withApp({ shutdownGrace, script: () => late }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          yield* listening(app, conversationId)
          yield* say(app, conversationId, "hi")
          yield* app.connection.close
          assert.isFalse(yield* leftAfter(app, "900 millis"))
          assert.isTrue(yield* leftAfter(app, "100 millis"))
          assert.deepStrictEqual(typesOf(app), liveTurn)
        }),
      ),
  )

  it.effect(
    "L9 turns of requests that are read together with the end of input are delivered as well",
    () =>
      withApp({ shutdownGrace, script: () => Script.reply(Script.text("soon")) }, (app) =>
        Effect.gen(function* () {
          const ids = [yield* created(app, {}, "new 1"), yield* created(app, {}, "new 2")]
          for (const id of ids) yield* listening(app, id, {}, `listen ${id}`)
          const params = (conversationId: string) => ({
            conversationId,
            items: [{ type: "text", data: { text: "hi" } }],
          })
          const whileRunning = "wait"
          yield* app.send(
            { id: 1, method: "sendUserMessage", params: params(ids[0] ?? "") },
            { id: 2, method: "sendUserMessage", params: params(ids[1] ?? "") },
            { id: 3, method: "sendUserMessage", params: { ...params(ids[1] ?? ""), whileRunning } },
          )
          yield* app.connection.close
          yield* Fiber.join(app.server)
          yield* app.quiet
          assert.deepStrictEqual(
            typesOf(app).filter((type) => type === "task_complete"),
            Array.from({ length: 3 }, () => "task_complete"),
          )
        }),
      ),
  )

  it.effect.each([
    ["has no end", () => Script.reply(Script.hang), undefined],
    ["waits for an answer that no client gives any more", oneCall, asking([exec]).tools],
  ] as const)(
    "L9 a turn that %s delays the end for the grace, and no longer",
    ([, script, tools]) =>
      withApp({ shutdownGrace, script, ...(tools === undefined ? {} : { tools }) }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          yield* listening(app, conversationId)
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          yield* app.connection.close
          assert.isFalse(yield* leftAfter(app, 1999))
          assert.isTrue(yield* leftAfter(app, 1))
        }),
      ),
  )

  it.effect("L9 the server ends at once when no turn with a listener runs", () =>
    withApp({ shutdownGrace, script: () => late }, (app) =>
      Effect.gen(function* () {
        const [quiet, unheard] = [yield* created(app), yield* created(app, {}, "new 2")]
        yield* listening(app, quiet)
        const subscriptionId = yield* listening(app, unheard, {}, "listen 2")
        yield* say(app, unheard, "hi")
        resultOf(yield* app.ask(1, "removeConversationListener", { subscriptionId }))
        yield* app.connection.close
        assert.isTrue(yield* leftAfter(app, 0))
      }),
    ),
  )

  it.effect.each([["before"], ["after"]])(
    "L9 the server ends at once when the connection breaks %s that",
    ([when]) =>
      withApp({ shutdownGrace, script: () => late }, (app) =>
        Effect.gen(function* () {
          const conversationId = yield* created(app)
          yield* listening(app, conversationId)
          yield* say(app, conversationId, "hi")
          if (when === "after") {
            yield* app.connection.close
            assert.isFalse(yield* leftAfter(app, 10))
          }
          yield* app.connection.drop
          assert.isTrue(yield* leftAfter(app, 0))
        }),
      ),
  )
})
