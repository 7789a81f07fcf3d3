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

const told = ({ messages }: Harness) =>
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
          [told(app), told(other)],
          [[loggedIn("apikey")], [loggedIn("apikey")]],
        )
        assert.deepStrictEqual(silent.messages, [])
        yield* other.ask(2, "logoutChatGpt")
        yield* app.quiet
        assert.deepStrictEqual(told(app).slice(1), [[AuthStatusChange._tag, {}]])
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
          assert.deepStrictEqual(told(app), [
            [LoginChatGptComplete._tag, { loginId, success: true }],
            loggedIn("chatgpt"),
          ])
          assert.deepStrictEqual(told(other), [loggedIn("chatgpt")])
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
        assert.deepStrictEqual(told(app), [loggedIn("chatgpt")])
        assert.deepStrictEqual(told(other), [])
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
          assert.deepStrictEqual([app, both, mcp].map(told), [
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
        const audience = Broadcast.make()("local")
        const { auth } = account()
        const heard: Array<unknown> = []
        const notices = { put: (_: unknown, params: unknown) => heard.push(params) }
        const scope = yield* Scope.make()
        yield* Scope.provide(audience.join({ auth, notices }), scope)
        yield* audience.authChanged(auth, { authMethod: "apikey" })
        yield* audience.authChanged(Auth.none, {})
        yield* Scope.close(scope, Exit.void)
        yield* audience.authChanged(auth, {})
        assert.deepStrictEqual([heard, audience.size()], [[{ authMethod: "apikey" }], 0])
      }),
  )
})
