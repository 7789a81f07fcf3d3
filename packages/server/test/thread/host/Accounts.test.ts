import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Auth, AuthFailed, type AuthStatus } from "../../../src/app/ports/AuthPort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { lines, told, withThreads } from "../../support/Threading.ts"

const loginId = "00000000-0000-4000-8000-000000000001"

/** A login service that keeps its state in memory. */
const memoryAuth = (initial: AuthStatus) => {
  let status = initial
  const auth = Auth.of({
    ...Auth.none,
    loginApiKey: (token) =>
      Effect.sync(() => {
        status = { required: true, method: "apikey", token }
      }),
    loginChatGpt: Effect.succeed({
      loginId,
      authUrl: "https://login.example",
      completed: Effect.fail(new AuthFailed({ message: "Login timed out" })),
    }),
    cancelLogin: (id) => (id === loginId ? Effect.void : Auth.none.cancelLogin(id)),
    logout: Effect.sync(() => {
      status = { required: true }
    }),
    status: () => Effect.sync(() => status),
    email: Effect.succeed("me@example.com"),
  })
  return { auth }
}

const read = { userId: null, requiresOpenaiAuth: true, workspaceRouting: null }

describe("account/read", () => {
  it.effect("reports the account, and none for a provider that needs none", () =>
    Effect.gen(function* () {
      const token = Redacted.make("secret")
      const chatgpt = memoryAuth({ required: true, method: "chatgpt", token })
      yield* withThreads({ ports: chatgpt }, (app) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(resultOf(yield* app.ask(1, "account/read", {})), {
            ...read,
            account: {
              type: "chatgpt",
              email: "me@example.com",
              planType: "unknown",
              workspaceName: null,
            },
          })
        }),
      )
      yield* withThreads({ ports: memoryAuth({ required: false }) }, (app) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(resultOf(yield* app.ask(1, "account/read", {})), {
            ...read,
            account: null,
            requiresOpenaiAuth: false,
          })
        }),
      )
    }),
  )
})

describe("account/login/start", () => {
  it.effect("has no login with a code on another device, and says why", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        const answer = yield* app.ask(1, "account/login/start", { type: "chatgptDeviceCode" })
        assert.strictEqual(errorOf(answer).code, -32600)
        assert.include(
          errorOf(answer).message,
          "`chatgptDeviceCode` is not supported: the requests",
        )
      }),
    ),
  )

  it.effect("refuses a key that no header can carry, without repeating it", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        for (const apiKey of ["", "two words", "k\u001b[31mey"]) {
          const answer = yield* app.ask(apiKey, "account/login/start", { type: "apiKey", apiKey })
          assert.strictEqual(errorOf(answer).code, -32600)
          assert.include(errorOf(answer).message, "Expected a key of visible ASCII letters")
          if (apiKey !== "") assert.notInclude(String(errorOf(answer).message), apiKey)
        }
      }),
    ),
  )

  it.effect("stores a key and notifies after the response", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        const before = app.messages.length
        const params = { type: "apiKey", apiKey: "secret" }
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "account/login/start", params)), {
          type: "apiKey",
        })
        yield* app.quiet
        assert.deepStrictEqual(
          lines(app, before).filter((line) => !line.startsWith("authStatus")),
          ["answer 1", "account/login/completed", "account/updated"],
        )
        assert.deepStrictEqual(told(app, "account/updated"), [
          { authMode: "apikey", planType: null },
        ])
        const { account } = resultOf(yield* app.ask(2, "account/read", {}))
        assert.deepStrictEqual(account, { type: "apiKey" })
      }),
    ),
  )

  it.effect("notifies how a login in the browser has ended", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        const params = { type: "chatgpt" }
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "account/login/start", params)), {
          type: "chatgpt",
          loginId,
          authUrl: "https://login.example",
        })
        yield* app.quiet
        assert.deepStrictEqual(told(app, "account/login/completed"), [
          { loginId, success: false, error: "Login timed out", onboardingEntrypoint: null },
        ])
        assert.deepStrictEqual(told(app, "account/updated"), [])
      }),
    ),
  )
})

describe("account/login/cancel", () => {
  it.effect("cancels a login, and says so when there is none", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        const cancel = (id: number, login: string) =>
          app.ask(id, "account/login/cancel", { loginId: login })
        assert.deepStrictEqual(resultOf(yield* cancel(1, loginId)), { status: "canceled" })
        const other = loginId.replace("1", "2")
        assert.deepStrictEqual(resultOf(yield* cancel(2, other)), { status: "notFound" })
        assert.deepStrictEqual(errorOf(yield* cancel(3, "x")), {
          code: -32600,
          message: "invalid login id: x",
        })
      }),
    ),
  )
})

describe("account/logout", () => {
  it.effect("notifies after the response, also without a login", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "account/logout")), {})
        yield* app.quiet
        assert.deepStrictEqual(told(app, "account/updated"), [{ authMode: null, planType: null }])
      }),
    ),
  )
})

describe("account/rateLimits/read", () => {
  it.effect("needs a login", () =>
    withThreads({ ports: memoryAuth({ required: true }) }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "account/rateLimits/read")), {
          code: -32600,
          message: "codex account authentication required to read rate limits",
        })
        yield* app.ask(2, "account/login/start", { type: "apiKey", apiKey: "k" })
        const { rateLimits } = resultOf(yield* app.ask(3, "account/rateLimits/read"))
        assert.strictEqual((rateLimits as { readonly limitId: string }).limitId, "codex")
      }),
    ),
  )
})

describe("getAuthStatus and account/bedrock/checkGovCloudRequirements", () => {
  it.effect("have every member", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "getAuthStatus", {})), {
          authMethod: null,
          authToken: null,
          requiresOpenaiAuth: false,
        })
        const gov = yield* app.ask(2, "account/bedrock/checkGovCloudRequirements", {})
        assert.deepStrictEqual(resultOf(gov), { isGovCloud: false, shouldWarn: false })
      }),
    ),
  )
})
