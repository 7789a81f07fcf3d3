import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { join, relative } from "node:path"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

/** Pattern of every key in this test, whatever its source. */
const secret = /sk-secret-[a-z]+/

const config = (baseUrl: string) => `
model = "mock-model"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.mock]
name = "Mock"
base_url = "${baseUrl}"
wire_api = "responses"
env_key = "MOCK_KEY"
http_headers = { "x-secret" = "sk-secret-header" }
query_params = { token = "sk-secret-query" }
env_http_headers = { "x-other" = "MOCK_HEADER" }
request_max_retries = 0
stream_max_retries = 0
[model_providers.login]
name = "Login"
base_url = "${baseUrl}"
wire_api = "responses"
requires_openai_auth = true
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.broken]
command = "no-such-program"
env = { TOKEN = "sk-secret-server" }
`

/** The keys that the provider repeats in its error, by the index of the request. */
const keys = [
  "",
  "sk-secret-env sk-secret-envheader sk-secret-header sk-secret-query",
  "sk-secret-login",
]

/** The files in which users deliberately store keys. */
const own = new Set(["config.toml", "auth.json"])

const filesBelow = (directory: string): ReadonlyArray<string> =>
  Fs.readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )

describe("secrets", () => {
  it.live("no key is in a response, an event, an error, a log or a file of a conversation", () =>
    Effect.gen(function* () {
      const provider = yield* MockProvider.make((call) =>
        call.index === 0
          ? Script.reply(Script.toolCall("shell", { command: ["env"] }, "call"))
          : Script.status(401, {
              // Some providers repeat an invalid key in their error.
              body: JSON.stringify({ error: { message: `bad keys ${keys[call.index]}` } }),
            }),
      )
      const directory = yield* home({ "config.toml": config(provider.baseUrl) })
      const server = yield* Server.ready({
        home: directory,
        env: {
          MOCK_KEY: "sk-secret-env",
          MOCK_HEADER: "sk-secret-envheader",
          COLLOQUY_LOG: "trace",
        },
      })
      server.call(1, "codex", { prompt: "go" })
      yield* server.answer(1)
      // The key of a client's login is stored for the provider that uses it.
      server.send({ id: 2, method: "loginApiKey", params: { apiKey: "sk-secret-login" } })
      yield* server.answer(2)
      server.call(3, "codex", { prompt: "go", config: { model_provider: "login" } })
      yield* server.answer(3)
      server.call(4, "codex", {
        prompt: "go",
        config: { "model_providers.mock.wire_api": "sk-secret-typo" },
      })
      yield* server.answer(4)
      server.send({ id: 5, method: "getUserSavedConfig" })
      yield* server.answer(5)
      server.send({ id: 6, method: "getAuthStatus", params: {} })
      yield* server.answer(6)
      server.child.stdin.end()
      yield* server.exit

      const sent = (yield* provider.requests).map(({ headers }) => headers["authorization"])
      assert.includeMembers(sent, ["Bearer sk-secret-env", "Bearer sk-secret-login"])
      const shown = server.frames.filter(({ id }) => id !== 4).map((frame) => JSON.stringify(frame))
      for (const text of [...shown, server.stderr()]) assert.notMatch(text, secret)
      const files = filesBelow(directory).filter((path) => !own.has(relative(directory, path)))
      assert.isNotEmpty(files.filter((path) => path.includes("rollout-")))
      for (const path of files) assert.notMatch(Fs.readFileSync(path, "latin1"), secret, path)
    }),
  )
})
