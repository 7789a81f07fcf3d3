import { AuthStatusChange, LoginChatGptComplete } from "@colloquy/protocol/app/Account"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Broadcast from "../../../src/app/subscriptions/Broadcast.ts"
import { Auth } from "../../../src/app/ports/AuthPort.ts"
import * as AppServer from "../../../src/AppServer.ts"
import { account, loginId } from "../../support/Accounts.ts"
import { hello, outline, withApp } from "../../support/AppHarness.ts"
import { initialize } from "../../support/Asking.ts"
import type { Harness } from "../../support/Harness.ts"

const notificationsOf = ({ messages }: Harness) =>
  messages.flatMap(({ id, method, params }) => (id === undefined ? [[method, params]] : []))

const loggedIn = (authMethod: string) => [AuthStatusChange._tag, { authMethod }]

describe("Broadcast", () => {
  it.effect("every initialized connection is notified of a change of the login", () => {
    const { auth } = account()
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        const silent = yield* app.another
        yield* app.ask(1, "loginApiKey", { apiKey: "k" })
        yield* app.quiet
        assert.deepStrictEqual(
          [notificationsOf(app), notificationsOf(other)],
          [[loggedIn("apikey")], [loggedIn("apikey")]],
        )
        assert.deepStrictEqual(silent.messages, [])
        yield* other.ask(2, "logoutChatGpt")
        yield* app.quiet
        assert.deepStrictEqual(notificationsOf(app).slice(1), [[AuthStatusChange._tag, {}]])
        assert.deepStrictEqual(outline(other).slice(-2), ["answer 2", AuthStatusChange._tag])
      }),
    )
  })

  it.effect(
    "only the connection that started a login is notified of its end, all are notified of the new status",
    () => {
      const { auth, end } = account()
      return withApp({ ports: { auth } }, (app) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* hello(other)
          yield* app.ask(1, "loginChatGpt")
          end()
          yield* app.quiet
          assert.deepStrictEqual(notificationsOf(app), [
            [LoginChatGptComplete._tag, { loginId, success: true }],
            loggedIn("chatgpt"),
          ])
          assert.deepStrictEqual(notificationsOf(other), [loggedIn("chatgpt")])
        }),
      )
    },
  )

  it.effect("the other connections are notified of a login whose client has disconnected", () => {
    const { auth, end } = account()
    return withApp({ ports: { auth } }, (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        yield* other.ask(1, "loginChatGpt")
        yield* other.connection.close
        yield* app.quiet
        end()
        yield* app.quiet
        assert.deepStrictEqual(notificationsOf(app), [loggedIn("chatgpt")])
        assert.deepStrictEqual(notificationsOf(other), [])
      }),
    )
  })

  it.effect(
    "on an MCP connection a client that never used this dialect gets none of its notifications",
    () => {
      const { auth } = account()
      const besideMcp = AppServer.beside({})
      return withApp({ ports: { auth }, besideMcp, initialized: false }, (app) =>
        Effect.gen(function* () {
          const mcp = yield* app.another
          const both = yield* app.another
          for (const one of [mcp, both]) yield* one.send(initialize({}))
          yield* both.ask(1, "getUserAgent")
          yield* app.ask(1, "loginApiKey", { apiKey: "k" })
          yield* app.quiet
          assert.deepStrictEqual([app, both, mcp].map(notificationsOf), [
            [loggedIn("apikey")],
            [loggedIn("apikey")],
            [],
          ])
        }),
      )
    },
  )

  it.effect(
    "keeps nothing of closed connections, and notifies none with another login service",
    () =>
      Effect.gen(function* () {
        const broadcast = Broadcast.make()("local")
        const { auth } = account()
        const received: Array<unknown> = []
        const notices = { put: (_: unknown, params: unknown) => received.push(params) }
        const scope = yield* Scope.make()
        yield* Scope.provide(broadcast.join({ auth, notices, usesThreads: () => false }), scope)
        yield* broadcast.authChanged(auth, { authMethod: "apikey" })
        yield* broadcast.authChanged(Auth.none, {})
        yield* Scope.close(scope, Exit.void)
        yield* broadcast.authChanged(auth, {})
        assert.deepStrictEqual([received, broadcast.size()], [[{ authMethod: "apikey" }], 0])
      }),
  )
})
