import type { Login } from "@colloquy/server/app/ports/AuthPort"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Auth from "../../src/auth/Auth.ts"
import { jwt, make as makeIssuer } from "./MockIssuer.ts"

const provider = {
  id: "openai",
  name: "OpenAI",
  wire: "responses" as const,
  baseUrl: "http://openai",
  envKey: "OPENAI_API_KEY",
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 0,
  streamMaxRetries: 0,
  streamIdleTimeout: Duration.minutes(5),
}

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-auth-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

/** The tokens of this issuer expire one hour after the start of the test's clock. */
const stage = Effect.gen(function* () {
  const directory = yield* temporary
  const issuer = yield* makeIssuer(3_600_000)
  const live = yield* Auth.make({
    directory,
    provider,
    issuer: { url: issuer.url, clientId: "me", scopes: "openid email offline_access" },
    tokenBaseUrl: "http://tokens",
  })
  const path = join(directory, "auth.json")
  const stored = () => JSON.parse(Fs.readFileSync(path, "utf8")) as Record<string, unknown>
  return { ...live, issuer, path, stored }
})

const run = <A, E>(
  test: (here: Effect.Success<typeof stage>) => Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.flatMap(stage, test).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerNodeHttp))

/** Calls the callback address as a browser does after the issuer's redirect. */
const visit = (login: Login, parameters: Record<string, string>, headers = {}) =>
  Effect.promise(async () => {
    const asked = new URL(login.authUrl).searchParams
    const url = new URL(asked.get("redirect_uri") ?? "")
    url.hostname = "127.0.0.1"
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return fetch(url, { headers }).then(
      (response) => response.status,
      () => "no login",
    )
  })

const stateOf = (login: Login) => new URL(login.authUrl).searchParams.get("state") ?? ""

describe("login in the browser", () => {
  it.effect(
    "sends the person to the issuer with a challenge, and exchanges the proof for tokens",
    () =>
      run(({ auth, issuer, path, stored }) =>
        Effect.gen(function* () {
          const login = yield* auth.loginChatGpt
          const url = new URL(login.authUrl)
          const asked = Object.fromEntries(url.searchParams)
          assert.strictEqual(url.origin + url.pathname, `${issuer.url}/oauth/authorize`)
          assert.match(asked["redirect_uri"] ?? "", /^http:\/\/localhost:\d+\/auth\/callback$/)
          assert.deepStrictEqual(
            [asked["response_type"], asked["client_id"], asked["code_challenge_method"]],
            ["code", "me", "S256"],
          )
          issuer.challenges.set("code-1", asked["code_challenge"] ?? "")
          assert.strictEqual(yield* visit(login, { state: stateOf(login), code: "code-1" }), 200)
          yield* login.completed
          assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
          assert.deepInclude(stored()["tokens"], { account_id: "acc-1" })
          const status = yield* auth.status({ refresh: false })
          assert.deepStrictEqual([status.required, status.method], [true, "chatgpt"])
          assert.strictEqual(yield* auth.email, "me@example.org")
          // The loopback server stopped together with the login attempt.
          assert.strictEqual(yield* visit(login, { state: "x", code: "y" }), "no login")
        }),
      ),
  )

  it.effect(
    "a code without the state of the attempt, another path and another host change nothing",
    () =>
      run(({ auth, issuer }) =>
        Effect.gen(function* () {
          const login = yield* auth.loginChatGpt
          assert.strictEqual(yield* visit(login, { state: "other", code: "code-1" }), 400)
          assert.strictEqual(yield* visit(login, { code: "code-1" }), 400)
          assert.strictEqual(yield* visit(login, { state: stateOf(login) }), 400)
          assert.deepStrictEqual(issuer.forms, [])
          const challenge = new URL(login.authUrl).searchParams.get("code_challenge") ?? ""
          issuer.challenges.set("code-1", challenge)
          yield* visit(login, { state: stateOf(login), code: "code-1" })
          yield* login.completed
        }),
      ),
  )

  it.effect("a refusal of the issuer is reported with its code and nothing else", () =>
    run(({ auth, issuer, path }) =>
      Effect.gen(function* () {
        const first = yield* auth.loginChatGpt
        yield* visit(first, { state: stateOf(first), error: "access_denied" })
        const denied = yield* Effect.flip(first.completed)
        assert.strictEqual(denied.message, "Login server error: the issuer refused: access_denied")
        const second = yield* auth.loginChatGpt
        yield* visit(second, { state: stateOf(second), error: "<b>sk-secret</b>" })
        const odd = yield* Effect.flip(second.completed)
        assert.strictEqual(odd.message, "Login server error: the issuer refused: unknown error")
        issuer.refusal = { status: 403, body: '{"error":"invalid_grant","text":"sk-secret"}' }
        const third = yield* auth.loginChatGpt
        yield* visit(third, { state: stateOf(third), code: "code-3" })
        const refused = yield* Effect.flip(third.completed)
        assert.strictEqual(
          refused.message,
          "Login server error: login: the issuer responded with status 403, invalid_grant",
        )
        assert.isFalse(Fs.existsSync(path))
      }),
    ),
  )

  it.effect("a second login, a cancellation and a key each end the login in progress", () =>
    run(({ auth }) =>
      Effect.gen(function* () {
        const text = (login: Login) =>
          Effect.map(Effect.flip(login.completed), ({ message }) => message)
        const first = yield* auth.loginChatGpt
        const second = yield* auth.loginChatGpt
        assert.strictEqual(yield* text(first), "Login was not completed")
        assert.strictEqual(
          (yield* Effect.flip(auth.cancelLogin(first.loginId))).loginId,
          first.loginId,
        )
        yield* auth.cancelLogin(second.loginId)
        assert.strictEqual(yield* text(second), "Login was not completed")
        assert.strictEqual(yield* visit(second, { state: "x" }), "no login")
        const third = yield* auth.loginChatGpt
        yield* auth.loginApiKey(Redacted.make("sk-key"))
        assert.strictEqual(yield* text(third), "Login was not completed")
        const fourth = yield* auth.loginChatGpt
        yield* auth.logout
        assert.strictEqual(yield* text(fourth), "Login was not completed")
        assert.deepStrictEqual(yield* auth.status({ refresh: false }), { required: true })
      }),
    ),
  )

  it.effect("a login without a response for ten minutes times out", () =>
    run(({ auth }) =>
      Effect.gen(function* () {
        const login = yield* auth.loginChatGpt
        const ended = yield* Effect.forkChild(Effect.flip(login.completed))
        yield* TestClock.adjust("599 seconds")
        assert.isUndefined(ended.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(ended)).message, "Login timed out")
        assert.strictEqual(yield* visit(login, { state: stateOf(login) }), "no login")
      }),
    ),
  )
})

describe("auth.json", () => {
  it.effect(
    "stores an API key in place of tokens, readable only by its owner, and keeps the members of other programs",
    () =>
      run(({ auth, findKey, path, stored }) =>
        Effect.gen(function* () {
          Fs.writeFileSync(path, '{"other":1,"OPENAI_API_KEY":null}', { mode: 0o644 })
          assert.deepStrictEqual(yield* auth.status({ refresh: false }), { required: true })
          yield* auth.loginApiKey(Redacted.make("sk-key"))
          assert.deepStrictEqual(stored(), {
            other: 1,
            OPENAI_API_KEY: "sk-key",
            tokens: null,
            last_refresh: null,
          })
          assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
          const key = yield* findKey(provider)
          assert.strictEqual(Redacted.value(key?.key ?? Redacted.make("none")), "sk-key")
          assert.isUndefined(yield* findKey({ ...provider, envKey: "OTHER_KEY" }))
          yield* auth.logout
          yield* auth.logout
          assert.isFalse(Fs.existsSync(path))
          assert.isUndefined(yield* findKey(provider))
        }),
      ),
  )

  it.effect("an invalid file is a typed error that quotes nothing", () =>
    run(({ auth, findKey, path }) =>
      Effect.gen(function* () {
        for (const text of [
          '{"OPENAI_API_KEY": sk-secret',
          '["sk-secret"]',
          '{"tokens":"sk-secret"}',
        ]) {
          Fs.writeFileSync(path, text)
          const error = yield* Effect.flip(findKey(provider))
          assert.strictEqual(
            error.message,
            `${path}: expected an object with \`OPENAI_API_KEY\` or \`tokens\``,
          )
          assert.strictEqual(error.reason, "Key")
        }
        assert.deepStrictEqual(yield* auth.status({ refresh: false }), { required: true })
        assert.isUndefined(yield* auth.email)
      }),
    ),
  )

  it.effect(
    "L13 a file that cannot be read is never treated as missing, and no login replaces it",
    () =>
      run(({ auth, findKey, path, stored }) =>
        Effect.gen(function* () {
          Fs.symlinkSync(path, path)
          const unread = yield* Effect.flip(auth.loginApiKey(Redacted.make("sk-key")))
          assert.strictEqual(
            unread.message,
            `${path}: cannot be read (ELOOP); the file was not changed: remove it to log in again`,
          )
          assert.isTrue(Fs.lstatSync(path).isSymbolicLink())
          const message = `${path}: cannot be read (ELOOP)`
          assert.strictEqual((yield* Effect.flip(findKey(provider))).message, message)
          assert.strictEqual((yield* Effect.flip(auth.status({ refresh: false }))).message, message)
          assert.strictEqual((yield* Effect.flip(auth.email)).message, message)
          Fs.rmSync(path)
          const large = JSON.stringify({ OPENAI_API_KEY: "sk-old", other: "x".repeat(300 * 1024) })
          Fs.writeFileSync(path, large)
          yield* Effect.flip(auth.loginApiKey(Redacted.make("sk-key")))
          assert.strictEqual(Fs.readFileSync(path, "utf8"), large)
          yield* auth.logout
          yield* auth.loginApiKey(Redacted.make("sk-key"))
          assert.strictEqual(stored()["OPENAI_API_KEY"], "sk-key")
        }),
      ),
  )
})

const tokens = (expiresAtMs: number) =>
  JSON.stringify({
    tokens: {
      id_token: jwt({ email: "me@example.org" }),
      access_token: jwt({ exp: expiresAtMs / 1000, n: 0 }),
      refresh_token: "sk-secret-refresh-0",
      account_id: "acc-0",
    },
    last_refresh: new Date(0).toISOString(),
  })

describe("tokens", () => {
  it.effect("are used as long as they are valid, with their address and account", () =>
    run(({ findKey, issuer, path }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(path, tokens(3_600_000))
        const found = yield* findKey(provider)
        assert.deepStrictEqual(
          [found?.baseUrl, found?.headers, issuer.forms.length],
          ["http://tokens", { "chatgpt-account-id": "acc-0" }, 0],
        )
      }),
    ),
  )

  it.effect("are refreshed once for all requests that wait when they expire, and stored", () =>
    run(({ findKey, issuer, stored, path }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(path, tokens(60_000))
        const found = yield* Effect.all([findKey(provider), findKey(provider), findKey(provider)], {
          concurrency: "unbounded",
        })
        assert.strictEqual(new Set(found.map((one) => JSON.stringify(one))).size, 1)
        assert.deepStrictEqual(
          issuer.forms.map((form) => [form["grant_type"], form["refresh_token"]]),
          [["refresh_token", "sk-secret-refresh-0"]],
        )
        assert.deepInclude(stored()["tokens"], {
          refresh_token: "sk-secret-refresh-1",
          account_id: "acc-1",
        })
      }),
    ),
  )

  it.effect("L13 an endless response is abandoned at its limit, and the tokens stay", () =>
    run(({ findKey, issuer, path }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(path, tokens(60_000))
        const before = Fs.readFileSync(path, "utf8")
        const padding = "x".repeat(1024 * 1024)
        issuer.refusal = { status: 200, body: JSON.stringify({ access_token: "a", padding }) }
        const error = yield* Effect.flip(findKey(provider))
        assert.strictEqual(
          error.message,
          "refresh: the issuer's response is longer than 1048576 bytes",
        )
        assert.strictEqual(Fs.readFileSync(path, "utf8"), before)
      }),
    ),
  )

  it.effect("fail the request without being quoted when they cannot be refreshed, and stay", () =>
    run(({ auth, findKey, issuer, path }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(path, tokens(60_000))
        const before = Fs.readFileSync(path, "utf8")
        issuer.refusal = { status: 401, body: '{"error":"sk-secret refresh"}' }
        const error = yield* Effect.flip(findKey(provider))
        assert.strictEqual(error.message, "refresh: the issuer responded with status 401")
        assert.strictEqual(Fs.readFileSync(path, "utf8"), before)
        // A status request returns the old token.
        const status = yield* auth.status({ refresh: true })
        assert.strictEqual(status.method, "chatgpt")
      }),
    ),
  )
})
