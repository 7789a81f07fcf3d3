import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Auth from "../../src/auth/Auth.ts"
import * as CliProcess from "../CliProcess.ts"
import * as Server from "../support/Server.ts"
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
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-original-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

const stage = Effect.fnUntraced(function* (isUsed = true) {
  const directory = yield* temporary
  const original = yield* temporary
  const issuer = yield* makeIssuer(3_600_000)
  const live = yield* Auth.make({
    directory,
    original: { directory: original, isUsed },
    provider,
    issuer: { url: issuer.url, clientId: "me", scopes: "openid" },
    tokenBaseUrl: "http://tokens",
  })
  return {
    ...live,
    issuer,
    own: join(directory, "auth.json"),
    original: join(original, "auth.json"),
  }
})

const run = <A, E>(
  test: (here: Effect.Success<ReturnType<typeof stage>>) => Effect.Effect<A, E>,
  isUsed?: boolean,
): Effect.Effect<A, E> =>
  Effect.flatMap(stage(isUsed), test).pipe(
    Effect.scoped,
    Effect.provide(NodeHttpClient.layerNodeHttp),
  )

const apiKey = (key: string) => JSON.stringify({ OPENAI_API_KEY: key })

const tokens = (expiresAtMs: number) =>
  JSON.stringify({
    OPENAI_API_KEY: null,
    tokens: {
      id_token: jwt({ email: "me@example.org" }),
      access_token: jwt({ exp: expiresAtMs / 1000 }),
      refresh_token: "sk-secret-refresh",
      account_id: "acc-0",
    },
    last_refresh: new Date(0).toISOString(),
  })

const textOf = (stored: { readonly key: Redacted.Redacted } | undefined) =>
  stored === undefined ? undefined : Redacted.value(stored.key)

describe("a login of the original", () => {
  it.effect("is used where Colloquy has no login, only for the built-in provider", () =>
    run(({ auth, findKey, original, own }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(original, apiKey("sk-original"))
        assert.strictEqual(textOf(yield* findKey(provider)), "sk-original")
        assert.isUndefined(yield* findKey({ ...provider, id: "proxy" }))
        assert.strictEqual((yield* auth.status({ refresh: false })).method, "apikey")
        Fs.writeFileSync(own, '{"OPENAI_API_KEY":null,"tokens":null}')
        assert.strictEqual(textOf(yield* findKey(provider)), "sk-original")
        yield* auth.loginApiKey(Redacted.make("sk-own"))
        assert.strictEqual(textOf(yield* findKey(provider)), "sk-own")
        assert.strictEqual(Fs.readFileSync(original, "utf8"), apiKey("sk-original"))
      }),
    ),
  )

  it.effect("has tokens that are used until they expire and never refreshed", () =>
    run(({ auth, findKey, issuer, original, own }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(original, tokens(60_000))
        const found = yield* findKey(provider)
        assert.deepStrictEqual(
          [found?.baseUrl, found?.headers],
          ["http://tokens", { "chatgpt-account-id": "acc-0" }],
        )
        assert.strictEqual((yield* auth.status({ refresh: true })).method, "chatgpt")
        assert.strictEqual(yield* auth.email, "me@example.org")
        yield* TestClock.adjust("1 minute")
        const error = yield* Effect.flip(findKey(provider))
        assert.strictEqual(error.reason, "Key")
        assert.strictEqual(
          error.message,
          `the login of codex in ${original} expired at 1970-01-01T00:01:00.000Z: renew it with \`codex login\`, or set OPENAI_API_KEY; Colloquy never changes that file`,
        )
        assert.deepStrictEqual(yield* auth.status({ refresh: true }), { required: true })
        assert.deepStrictEqual(issuer.forms, [])
        assert.strictEqual(Fs.readFileSync(original, "utf8"), tokens(60_000))
        assert.isFalse(Fs.existsSync(own))
      }),
    ),
  )

  it.effect(
    "is reported as an error that names the file when it cannot be read, not as a missing login",
    () =>
      run(({ auth, findKey, original }) =>
        Effect.gen(function* () {
          Fs.writeFileSync(original, "sk-secret")
          const message = `${original}: expected an object with \`OPENAI_API_KEY\` or \`tokens\``
          assert.strictEqual((yield* Effect.flip(findKey(provider))).message, message)
          Fs.rmSync(original)
          Fs.symlinkSync(original, original)
          const unread = `${original}: cannot be read (ELOOP)`
          assert.strictEqual((yield* Effect.flip(findKey(provider))).message, unread)
          assert.strictEqual((yield* Effect.flip(auth.status({ refresh: false }))).message, unread)
        }),
      ),
  )

  it.effect("is named by the error about the missing key when a setting excludes it", () =>
    run(
      ({ auth, findKey, original }) =>
        Effect.gen(function* () {
          assert.isUndefined(yield* findKey(provider))
          Fs.writeFileSync(original, apiKey("sk-original"))
          const error = yield* Effect.flip(findKey(provider))
          assert.strictEqual(
            error.message,
            `Missing environment variable: \`OPENAI_API_KEY\`; the login of codex in ${original} is not used because \`login.from_codex\` is false.`,
          )
          assert.isUndefined(yield* findKey({ ...provider, keyOptional: true }))
          assert.deepStrictEqual(yield* auth.status({ refresh: false }), { required: true })
        }),
      false,
    ),
  )

  it.effect("is not removed by a logout, which says so", () =>
    run(({ auth, original, own }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(original, apiKey("sk-original"))
        yield* auth.loginApiKey(Redacted.make("sk-own"))
        yield* auth.logout
        assert.isFalse(Fs.existsSync(own))
        const { message } = yield* Effect.flip(auth.logout)
        assert.strictEqual(
          message,
          `the login is the one of codex in ${original}, which Colloquy never changes: use \`codex logout\`, or set \`login.from_codex\` to false`,
        )
        assert.strictEqual(Fs.readFileSync(original, "utf8"), apiKey("sk-original"))
      }),
    ),
  )
})

/** Creates a user's home directory with these files. */
const person = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const home = yield* CliProcess.stateDirectory()
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name)
    Fs.mkdirSync(join(path, ".."), { recursive: true })
    Fs.writeFileSync(path, text)
  }
  return home
})

const providerLine = (stdout: string) => /^model_provider = .*$/m.exec(stdout)?.[0] ?? ""

const loginLine = (stdout: string) => stdout.trimEnd().split("\n").at(-1) ?? ""

describe("the built program and a login of the original", () => {
  it.live("requests to the provider use it", () =>
    Effect.gen(function* () {
      const mock = yield* MockProvider.make([Script.reply(Script.text("hello"))])
      const home = yield* person({ ".codex/auth.json": apiKey("sk-original") })
      const server = yield* Server.ready({
        home: join(home, "state"),
        env: { HOME: home, OPENAI_BASE_URL: mock.baseUrl },
      })
      server.call(1, "codex", { prompt: "hi" })
      assert.strictEqual(Server.textOf(yield* server.answer(1)), "hello")
      const [request] = yield* mock.requests
      assert.strictEqual(request?.headers["authorization"], "Bearer sk-original")
    }).pipe(Effect.scoped),
  )

  it.live("`config` and `doctor` say where it comes from", () =>
    Effect.gen(function* () {
      const home = yield* person({ ".codex/auth.json": apiKey("sk-original") })
      const path = join(home, ".codex/auth.json")
      const config = yield* CliProcess.run(["config"], { HOME: home })
      assert.match(providerLine(config.stdout), /^model_provider = "openai" /)
      assert.include(providerLine(config.stdout), `# the login of codex in ${path}`)
      const doctor = yield* CliProcess.run(["doctor"], { HOME: home })
      assert.strictEqual(loginLine(doctor.stdout), `ok      login: an API key of codex in ${path}`)
      const withKey = yield* CliProcess.run(["doctor"], { HOME: home, OPENAI_API_KEY: "sk-other" })
      assert.strictEqual(loginLine(withKey.stdout), "ok      login: OPENAI_API_KEY is set")
      const other = {
        HOME: home,
        CODEX_HOME: join(home, "codex"),
        COLLOQUY_HOME: join(home, "own"),
      }
      const none = yield* CliProcess.run(["doctor"], other)
      assert.strictEqual(
        loginLine(none.stdout),
        `missing login: none found in ${home}/own/auth.json or ${home}/codex/auth.json`,
      )
    }).pipe(Effect.scoped),
  )

  it.live("`login.from_codex = false` disables it, and `doctor` says so", () =>
    Effect.gen(function* () {
      const home = yield* person({
        ".codex/auth.json": apiKey("sk-original"),
        ".colloquy/config.toml": "[login]\nfrom_codex = false\n",
      })
      const config = yield* CliProcess.run(["config"], { HOME: home })
      assert.include(providerLine(config.stdout), "# default, but no OpenAI key is set")
      assert.match(config.stdout, /^login\.from_codex = false .*# config\.toml:2$/m)
      const doctor = yield* CliProcess.run(["doctor"], { HOME: home })
      assert.strictEqual(
        loginLine(doctor.stdout),
        `missing login: none found in ${home}/.colloquy/auth.json, and the login of codex in ${home}/.codex/auth.json is not used because \`login.from_codex\` is false`,
      )
      const server = yield* Server.ready({ home: join(home, ".colloquy"), env: { HOME: home } })
      server.call(1, "codex", { prompt: "hi" })
      assert.include(
        Server.textOf(yield* server.answer(1)),
        `the login of codex in ${home}/.codex/auth.json is not used because \`login.from_codex\` is false.`,
      )
    }).pipe(Effect.scoped),
  )

  it.live("L13 an auth.json that cannot be examined is treated as present", () =>
    Effect.gen(function* () {
      const home = yield* person({ ".colloquy/config.toml": "" })
      const path = join(home, ".colloquy/auth.json")
      Fs.symlinkSync(path, path)
      const config = yield* CliProcess.run(["config"], { HOME: home })
      assert.include(providerLine(config.stdout), "auth.json is present")
      const doctor = yield* CliProcess.run(["doctor"], { HOME: home })
      assert.strictEqual(loginLine(doctor.stdout), `broken  login: ${path}: cannot be read (ELOOP)`)
    }).pipe(Effect.scoped),
  )

  it.live("L13 a directory that cannot be examined is refused with the reason", () =>
    Effect.gen(function* () {
      const home = yield* CliProcess.stateDirectory()
      const path = join(home, "loop")
      Fs.symlinkSync(path, path)
      const { code, stderr } = yield* CliProcess.run(["-C", path, "config"])
      assert.deepStrictEqual([code, stderr], [1, `colloquy: ${path} cannot be read (ELOOP)\n`])
    }).pipe(Effect.scoped),
  )
})
