import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type { Auth } from "../../../src/app/ports/AuthPort.ts"
import { HostPort } from "../../../src/app/ports/HostPort.ts"
import * as AppServer from "../../../src/AppServer.ts"
import { account, loginId } from "../../support/Accounts.ts"
import {
  created,
  errorOf,
  listening,
  outline,
  resultOf,
  say,
  typesOf,
  withApp,
} from "../../support/AppHarness.ts"
import { oneCall } from "../../support/Asking.ts"
import type { Harness } from "../../support/Harness.ts"

const cancelRequest = (id: unknown) => ({ method: "$/cancelRequest", params: { id } })

const request = (id: unknown, method: string, params?: object) => ({ id, method, params })

const cancelled = { code: -32800, message: "request cancelled" }

const answersTo = ({ messages }: Harness, id: unknown) =>
  messages.filter((message) => message.method === undefined && message.id === id)

/** Work that does not end by itself. */
const endless = (stopping: Effect.Effect<void> = Effect.void) => {
  const running = { count: 0 }
  const work = Effect.suspend(() => {
    running.count++
    return Effect.never
  }).pipe(
    Effect.onInterrupt(() =>
      Effect.map(stopping, () => {
        running.count--
      }),
    ),
  )
  return { running, host: { ...HostPort.none, searchFiles: () => work, runCommand: () => work } }
}

const search = { query: "a", roots: ["/r"] }

describe("$/cancelRequest", () => {
  it.effect.each([
    ["fuzzyFileSearch", search],
    ["fuzzyFileSearch", { ...search, cancellationToken: "t" }],
    ["execOneOffCommand", { command: ["sleep", "100"] }],
  ] as const)("L1 ends %s, which is answered once, with the error", ([method, params]) => {
    const { host, running } = endless(Effect.sleep("1 second"))
    return withApp({ ports: { host } }, (app) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        yield* app.send(request(1, method, params))
        yield* app.quiet
        assert.strictEqual(running.count, 1)
        yield* app.send(cancelRequest(1), cancelRequest(1))
        yield* app.quiet
        assert.deepStrictEqual(answersTo(app, 1), [])
        yield* TestClock.adjust("1 second")
        yield* app.quiet
        assert.deepStrictEqual([running.count, answersTo(app, 1).map(errorOf)], [0, [cancelled]])
        yield* app.send(cancelRequest(1), request(1, "getUserAgent"))
        yield* app.quiet
        assert.deepStrictEqual(
          answersTo(app, 1).map(({ error }) => error?.code),
          [-32800, undefined],
        )
      }),
    )
  })

  it.effect("ignores ids of no request and of an answered one", () => {
    const { host, running } = endless()
    return withApp({ ports: { host } }, (app) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        yield* app.ask("done", "getUserAgent")
        yield* app.send(request(1, "fuzzyFileSearch", search))
        yield* app.quiet
        const before = app.messages.length
        yield* app.send(...["1", "done", 2, "hello", -1].map(cancelRequest))
        yield* app.send({ method: "$/cancelRequest", params: {} }, { method: "$/cancelRequest" })
        yield* app.quiet
        assert.deepStrictEqual([app.messages.length, running.count], [before, 1])
      }),
    )
  })

  it.effect(
    "L14 a cancelled interrupt is answered with an error, and the turn ends all the same",
    () => {
      const tools = ToolRuntime.simple({
        specs: () => [],
        run: () => Effect.onInterrupt(Effect.never, () => Effect.sleep("500 millis")),
      })
      return withApp({ script: oneCall, tools }, (app) =>
        Effect.gen(function* () {
          yield* TestClock.adjust(0)
          const conversationId = yield* created(app)
          yield* listening(app, conversationId)
          yield* say(app, conversationId, "hi")
          yield* app.quiet
          yield* app.send(request(1, "interruptConversation", { conversationId }), cancelRequest(1))
          yield* app.quiet
          assert.deepStrictEqual(answersTo(app, 1).map(errorOf), [cancelled])
          yield* TestClock.adjust("1 second")
          yield* app.quiet
          assert.strictEqual(typesOf(app).at(-1), "turn_aborted")
        }),
      )
    },
  )

  it.effect("ends a login whose request was cancelled before the client knew its id", () =>
    Effect.gen(function* () {
      const { auth } = account()
      const may = yield* Deferred.make<void>()
      const ended: Array<string> = []
      const slow: Auth["Service"] = {
        ...auth,
        loginChatGpt: Effect.andThen(Deferred.await(may), auth.loginChatGpt),
        cancelLogin: (id) =>
          Effect.tap(auth.cancelLogin(id), () => Effect.sync(() => ended.push(id))),
      }
      yield* withApp({ ports: { auth: slow } }, (app) =>
        Effect.gen(function* () {
          yield* app.send(request(1, "loginChatGpt"), cancelRequest(1))
          yield* app.quiet
          yield* Deferred.succeed(may, undefined)
          yield* app.quiet
          assert.deepStrictEqual(answersTo(app, 1).map(errorOf), [cancelled])
          assert.deepStrictEqual(ended, [loginId])
          assert.deepStrictEqual(outline(app), ["answer hello", "answer 1"])
        }),
      )
    }),
  )

  it.effect(
    "a request that changes something is completed and answered in spite of its cancellation",
    () =>
      Effect.gen(function* () {
        const { auth, key } = account()
        const may = yield* Deferred.make<void>()
        const slow: Auth["Service"] = {
          ...auth,
          loginApiKey: (given) => Effect.andThen(Deferred.await(may), auth.loginApiKey(given)),
        }
        yield* withApp({ ports: { auth: slow } }, (app) =>
          Effect.gen(function* () {
            yield* app.send(request(1, "loginApiKey", { apiKey: "k" }), cancelRequest(1))
            yield* app.quiet
            yield* Deferred.succeed(may, undefined)
            assert.deepStrictEqual(resultOf(yield* app.response(1)), {})
            assert.strictEqual(key(), "k")
            yield* app.send(request(2, "newConversation", {}), cancelRequest(2))
            resultOf(yield* app.response(2))
          }),
        )
      }),
  )

  it.effect("L9 L1 a request that is still being stopped at the end of input is answered", () => {
    const { host } = endless(Effect.sleep("1 second"))
    return withApp({ ports: { host }, script: [Script.reply(Script.text("x"))] }, (app) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        yield* app.send(request(1, "fuzzyFileSearch", search))
        yield* app.quiet
        yield* app.send(cancelRequest(1))
        yield* app.connection.close
        yield* app.quiet
        yield* TestClock.adjust("3 seconds")
        yield* app.quiet
        assert.deepStrictEqual(answersTo(app, 1).map(errorOf), [cancelled])
      }),
    )
  })

  it.effect.each([
    [
      "that of MCP, by itself",
      undefined,
      { method: "notifications/cancelled", params: { requestId: 1 } },
    ],
    ["this one, beside MCP", AppServer.beside({}), cancelRequest(1)],
  ] as const)("is not known under another name: %s", ([, beside, notification]) => {
    const { host, running } = endless()
    const options = beside === undefined ? {} : { besideMcp: beside, initialized: false }
    return withApp({ ports: { host }, ...options }, (app) =>
      Effect.gen(function* () {
        yield* app.send(request(1, "fuzzyFileSearch", search))
        yield* app.quiet
        yield* app.send(notification)
        yield* app.quiet
        assert.deepStrictEqual([running.count, answersTo(app, 1)], [1, []])
      }),
    )
  })
})
