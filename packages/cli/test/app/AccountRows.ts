/** Rows for the methods of `app/Account.ts`. The login issuer and the provider with rate limits run on loopback. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import { status } from "@colloquy/testing/ProviderScript"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { jwt, make as makeIssuer, type MockIssuer } from "../auth/MockIssuer.ts"
import { provided } from "../support/Home.ts"
import { type App, start } from "./App.ts"
import {
  internal,
  invalid,
  listening,
  made,
  notInitialized,
  refuses,
  row,
  type Row,
  turn,
  unknownId,
  uuid4,
} from "./Row.ts"

/** Configuration with a provider that needs an API key. No request is sent to it. */
const openai = 'model = "m"\nmodel_provider = "openai"\n'

/** A server that sends logins to a mock issuer and receives the callback on this port. */
const withIssuer = Effect.fnUntraced(function* (port = 0) {
  const issuer = yield* makeIssuer(4_000_000_000_000)
  const login = `[login]\nissuer = "${issuer.url}"\nclient_id = "me"\ncallback_port = ${port}\n`
  return { issuer, app: yield* start({ config: `${openai}${login}` }) }
})

/** The query parameters of a login request, read from the address that the browser opens. */
const asked = (authUrl: unknown) => {
  const url = new URL(String(authUrl))
  return { page: `${url.origin}${url.pathname}`, ...Object.fromEntries(url.searchParams) }
}

/** Plays the browser: calls the callback address with a code from the issuer. */
const comeBack = (authUrl: unknown, { challenges }: MockIssuer) =>
  Effect.promise(async () => {
    const {
      code_challenge = "",
      redirect_uri = "",
      state = "",
    } = asked(authUrl) as Record<string, string>
    challenges.set("code", code_challenge)
    const url = new URL(redirect_uri)
    url.hostname = "127.0.0.1"
    url.search = new URLSearchParams({ state, code: "code" }).toString()
    return (await fetch(url)).status
  })

const authFile = ({ home }: App) => join(home, "auth.json")

const stored = (app: App): unknown => JSON.parse(Fs.readFileSync(authFile(app), "utf8"))

/** Account data for an `auth.json` in the form that an earlier version of the original wrote. */
const email = "someone@example.org"
const tokens = {
  OPENAI_API_KEY: null,
  tokens: { id_token: jwt({ email }), access_token: "access", refresh_token: "refresh" },
}

const loginApiKey = row(
  "stores the key in a file that only its owner can read",
  { config: openai },
  (app) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* app.ask("loginApiKey", { apiKey: "sk-first" }), {})
      assert.deepStrictEqual(yield* app.ask("loginApiKey", { apiKey: "sk-second" }), {})
      const file = { OPENAI_API_KEY: "sk-second", tokens: null, last_refresh: null }
      assert.deepStrictEqual(stored(app), file)
      assert.strictEqual(Fs.statSync(authFile(app)).mode & 0o777, 0o600)
      yield* refuses(
        app,
        "loginApiKey",
        { apiKey: " " },
        invalid("Invalid request: params.apiKey: Expected a key of visible ASCII letters"),
      )
      assert.deepStrictEqual(stored(app), file)
    }),
)

/** A loopback port that stays occupied until the scope closes. */
const takenPort = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly free: Effect.Effect<void> }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(
        Effect.succeed({
          port: typeof address === "object" && address !== null ? address.port : 0,
          free: Effect.callback<void>((done) => {
            server.close(() => done(Effect.void))
          }),
        }),
      )
    })
  }),
  ({ free }) => free,
)

const loginChatGpt: Row = {
  shows: "waits for the browser at the port, and returns the address to open",
  run: Effect.gen(function* () {
    const { free, port } = yield* takenPort
    const { app, issuer } = yield* withIssuer(port)
    yield* refuses(
      app,
      "loginChatGpt",
      undefined,
      internal(`failed to start login server: cannot listen on port ${port} (EADDRINUSE)`),
    )
    yield* free
    const { authUrl, loginId, ...rest } = yield* app.ask("loginChatGpt")
    assert.deepStrictEqual(rest, {})
    assert.match(String(loginId), uuid4)
    const {
      code_challenge: challenge = "",
      state = "",
      ...query
    } = asked(authUrl) as Record<string, string>
    assert.match(challenge, /^[\w-]{43}$/)
    assert.match(state, /^[\w-]{43}$/)
    assert.deepStrictEqual(query, {
      page: `${issuer.url}/oauth/authorize`,
      response_type: "code",
      client_id: "me",
      redirect_uri: `http://localhost:${port}/auth/callback`,
      scope: "openid profile email offline_access",
      code_challenge_method: "S256",
    })
    return app
  }),
}

const cancelLoginChatGpt: Row = {
  shows: "ends the login once, and closes its port",
  run: Effect.gen(function* () {
    const { app, issuer } = yield* withIssuer()
    const { authUrl, loginId } = yield* app.ask("loginChatGpt")
    yield* refuses(
      app,
      "cancelLoginChatGpt",
      { loginId: unknownId },
      invalid(`login id not found: ${unknownId}`),
    )
    assert.deepStrictEqual(yield* app.ask("cancelLoginChatGpt", { loginId }), {})
    yield* app.received("loginChatGptComplete")
    const loggedOut = yield* Effect.exit(comeBack(authUrl, issuer))
    assert.strictEqual(loggedOut._tag, "Failure")
    yield* refuses(
      app,
      "cancelLoginChatGpt",
      { loginId },
      invalid(`login id not found: ${String(loginId)}`),
    )
    return app
  }),
}

const logoutChatGpt = row("removes the file", { config: openai }, (app) =>
  Effect.gen(function* () {
    Fs.writeFileSync(authFile(app), JSON.stringify(tokens))
    assert.deepStrictEqual(yield* app.ask("logoutChatGpt"), {})
    assert.isFalse(Fs.existsSync(authFile(app)))
    // Logging out without a login succeeds.
    assert.deepStrictEqual(yield* app.ask("logoutChatGpt"), {})
    Fs.mkdirSync(authFile(app))
    yield* refuses(
      app,
      "logoutChatGpt",
      undefined,
      internal(`logout failed: ${authFile(app)}: cannot be removed (ERR_FS_EISDIR)`),
    )
  }),
)

const getAuthStatus = row(
  "returns the contents of the file as it is now",
  { config: openai },
  (app) =>
    Effect.gen(function* () {
      const status = (params = {}) => app.ask("getAuthStatus", params)
      const loggedOut = { requiresOpenaiAuth: true }
      assert.deepStrictEqual(yield* status({ includeToken: true }), loggedOut)
      Fs.writeFileSync(authFile(app), JSON.stringify({ OPENAI_API_KEY: "sk-mine" }))
      assert.deepStrictEqual(yield* status(), { ...loggedOut, authMethod: "apikey" })
      Fs.writeFileSync(authFile(app), JSON.stringify(tokens))
      assert.deepStrictEqual(yield* status({ includeToken: true, refreshToken: false }), {
        ...loggedOut,
        authMethod: "chatgpt",
        authToken: "access",
      })
      Fs.writeFileSync(authFile(app), "{")
      assert.deepStrictEqual(yield* status({ includeToken: true }), loggedOut)
      yield* refuses(
        app,
        "getAuthStatus",
        { includeToken: "yes" },
        invalid("Invalid request: params.includeToken: Expected boolean | null"),
      )
    }),
)

const userInfo = row("returns the address that the token claims", { initialized: false }, (app) =>
  Effect.gen(function* () {
    yield* refuses(app, "userInfo", undefined, notInitialized)
    yield* app.initialize
    assert.deepStrictEqual(yield* app.ask("userInfo"), { allegedUserEmail: null })
    Fs.writeFileSync(authFile(app), JSON.stringify(tokens))
    assert.deepStrictEqual(yield* app.ask("userInfo"), { allegedUserEmail: email })
  }),
)

/** The rate limits that a provider reports at the end of a response. */
const limited = Effect.gen(function* () {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const end = { type: "response.completed", response: { id: "r", usage } }
  const { baseUrl } = yield* MockProvider.make(({ index }) =>
    status(200, {
      headers: {
        "content-type": "text/event-stream",
        "x-codex-primary-used-percent": String(10 * (index + 1)),
        "x-codex-primary-window-minutes": "300",
      },
      body: `data: ${JSON.stringify(end)}\n\n`,
    }),
  )
  const app = yield* start({ home: yield* provided(baseUrl, "responses"), initialized: false })
  return app
})

const limits = (percent: number) => ({
  primary: { used_percent: percent, window_minutes: 300 },
  secondary: null,
})

const accountRateLimitsRead: Row = {
  shows: "returns what the provider reported last, at first nothing",
  run: Effect.gen(function* () {
    const app = yield* limited
    yield* refuses(app, "account/rateLimits/read", undefined, notInitialized)
    yield* app.initialize
    assert.deepStrictEqual(yield* app.ask("account/rateLimits/read"), {
      rateLimits: { primary: null, secondary: null },
    })
    const { conversationId } = yield* made(app)
    yield* listening(app, conversationId)
    for (const percent of [10, 20]) {
      yield* turn(app, conversationId, "go")
      assert.deepStrictEqual(yield* app.ask("account/rateLimits/read"), {
        rateLimits: limits(percent),
      })
    }
    return app
  }),
}

const accountRateLimitsUpdated: Row = {
  shows: "notifies of limits that have changed",
  run: Effect.gen(function* () {
    const app = yield* limited
    yield* app.initialize
    const { conversationId } = yield* made(app)
    yield* listening(app, conversationId)
    yield* turn(app, conversationId, "go")
    yield* turn(app, conversationId, "go on")
    assert.deepStrictEqual(yield* app.received("account/rateLimits/updated"), limits(10))
    assert.deepStrictEqual(yield* app.received("account/rateLimits/updated", 1), limits(20))
    return app
  }),
}

const authStatusChange = row("notifies of the login after the response", {}, (app) =>
  Effect.gen(function* () {
    const before = app.messages.length
    yield* app.ask("loginApiKey", { apiKey: "sk-mine" })
    yield* app.received("authStatusChange")
    yield* app.ask("logoutChatGpt")
    yield* app.received("authStatusChange", 1)
    assert.deepStrictEqual(
      app.messages.slice(before).map(({ method, params }) => [method, params]),
      [
        [undefined, undefined],
        ["authStatusChange", { authMethod: "apikey" }],
        [undefined, undefined],
        ["authStatusChange", {}],
      ],
    )
  }),
)

const loginChatGptComplete: Row = {
  shows: "notifies of a login that succeeded, and of one that failed",
  run: Effect.gen(function* () {
    const { app, issuer } = yield* withIssuer()
    const first = yield* app.ask("loginChatGpt")
    yield* app.ask("cancelLoginChatGpt", { loginId: first["loginId"] })
    assert.deepStrictEqual(yield* app.received("loginChatGptComplete"), {
      loginId: first["loginId"],
      success: false,
      error: "Login was not completed",
    })
    const second = yield* app.ask("loginChatGpt")
    assert.strictEqual(yield* comeBack(second["authUrl"], issuer), 200)
    assert.deepStrictEqual(yield* app.received("loginChatGptComplete", 1), {
      loginId: second["loginId"],
      success: true,
    })
    assert.deepStrictEqual(yield* app.received("authStatusChange"), { authMethod: "chatgpt" })
    return app
  }),
}

/** Rows for the notifications. */
export const noticeRows = {
  authStatusChange,
  loginChatGptComplete,
  "account/rateLimits/updated": accountRateLimitsUpdated,
} as const

export const accountRows = {
  loginApiKey,
  loginChatGpt,
  cancelLoginChatGpt,
  logoutChatGpt,
  getAuthStatus,
  userInfo,
  "account/rateLimits/read": accountRateLimitsRead,
} as const
