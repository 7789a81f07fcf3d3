/** `config.toml`, `-c` arguments and `auth.json`, from their texts to settings, warnings, line numbers and edits. */
import { unknownKeys } from "@colloquy/config/ConfigKeys"
import { Config, decode } from "@colloquy/config/ConfigSchema"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Resolve from "@colloquy/config/Resolve"
import { offlineProvider, openaiProvider } from "@colloquy/models/Providers"
import { encode } from "@colloquy/simulation/fuzz/Bytes"
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { expect, mutateJoined, pure, textOf } from "@colloquy/simulation/fuzz/edges/Pure"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { claimsOf } from "../../src/auth/Claims.ts"
import { credentialsOf, parseStored } from "../../src/auth/StoredLogin.ts"
import { savedConfig } from "../../src/config/SavedConfig.ts"
import { linesOf } from "../../src/config/ConfigLines.ts"
import { edited } from "../../src/config/ConfigWriter.ts"
import { effectiveConfig } from "../../src/config/EffectiveConfig.ts"
import { allKeys } from "../../src/config/AllKeys.ts"

const configs = [
  `model = "gpt-5"
approval_policy = "on-request"
model_context_window = 200_000
released = 2025-09-01T00:00:00Z

[profiles.fast]
model = "o3"

[model_providers."my.provider"]
name = "Mine"
base_url = "https://example.org/v1"
wire_api = "chat"
query_params = { api-version = "1" }
stream_idle_timeout_ms = 1_000

[mcp_servers.files]
command = "npx"
args = ["-y", 'files']
env = { A = """multi
line""" }
startup_timeout_sec = 1.5

[shell_environment_policy]
inherit = "core"
exclude = ["AWS_*", "*_?"]
set = { __proto__ = "x" }

[tui]
notifications = ["a"]

[[unknown.array]]
x = 0xff
y = [1, [2.5e3, inf], { z = true }]
`,
  'profile = "p"\n[profiles.p]\nmodel_provider = "offline"\nmodel_reasoning_effort = "high"\n',
].map(encode)

const source = {
  builtinProviders: [offlineProvider, openaiProvider()],
  defaultProvider: "offline",
  cwd: "/work",
}

/** Edits an accepted text, and checks that the result parses and holds the edit. */
const edit = (text: string): void => {
  const next = edited(text, [{ path: ["model"], value: "fuzzed" }])
  if (Result.isFailure(next)) {
    expect(next.failure.message !== "", "refuses an edit without a reason")
    return
  }
  const tree = ConfigTree.parseToml(next.success)
  expect(Result.isSuccess(tree), "an edited file does not parse")
  expect(
    Result.isSuccess(tree) && tree.success["model"] === "fuzzed",
    "an edited file lacks its edit",
  )
}

/** Texts of `config.toml`. */
export const configFiles: Edge = {
  name: "config-toml",
  summary: "`config.toml`: keys, warnings, line numbers, settings and edits (config, cli/config).",
  corpus: configs,
  mutate: mutateJoined("\n", configs),
  open: pure((input) => {
    const text = textOf(input)
    const parsed = ConfigTree.parseToml(text)
    const lines = linesOf(text)
    if (Result.isFailure(parsed)) {
      expect(parsed.failure.length < 1024, "describes a fault in 1,024 characters or more")
      return "rejected"
    }
    const tree = parsed.success
    unknownKeys(allKeys(), tree)
    effectiveConfig(allKeys(), { file: tree, lines, args: [], chosen: {} })
    const config = decode(Config, tree)
    if (Result.isSuccess(config)) JSON.stringify(savedConfig(config.success))
    else expect(config.failure.message !== "", "refuses a key without a reason")
    const settings = Resolve.resolve({ ...source, tree }, {})
    if (input.length < 2048) edit(text)
    expect(Reflect.get(Object.prototype, "x") === undefined, "changes all objects")
    if (Result.isSuccess(settings)) return "accepted"
    expect(settings.failure.message !== "", "refuses settings without a reason")
    return "rejected"
  }),
}

const overrides = [
  "model=o3",
  "mcp_servers.a={command='x', args=[\"y\"]}",
  'a.b.c="quoted',
  'sandbox_workspace_write.writable_roots=["/a"]',
].map(encode)

/** `-c` arguments. */
export const configOverrides: Edge = {
  name: "config-override",
  summary: "`-c key=value` arguments (config/ConfigTree).",
  corpus: overrides,
  mutate: mutateJoined("=", overrides),
  open: pure((input) => {
    const read = ConfigTree.parseOverrides([textOf(input)])
    if (Result.isFailure(read)) {
      expect(read.failure !== "", "refuses an argument without a reason")
      return "rejected"
    }
    const tree = ConfigTree.applyOverrides(ConfigTree.empty, read.success)
    const settings = Resolve.resolve({ ...source, tree }, {})
    return Result.isSuccess(settings) ? "accepted" : "rejected"
  }),
}

const jwt = (claims: string) => `e30.${Buffer.from(claims).toString("base64url")}.sig`

const token = jwt(
  '{"email":"me@example.org","exp":1758355872,"https://api.openai.com/auth":{"chatgpt_account_id":"a"}}',
)

const logins = [
  JSON.stringify({
    OPENAI_API_KEY: null,
    tokens: { id_token: token, access_token: token, refresh_token: "r", account_id: "a" },
    last_refresh: "2025-09-20T08:11:12Z",
  }),
  '{"OPENAI_API_KEY":"sk-x","more":{"kept":[1]}}',
].map(encode)

/** Reads claims from the text itself and from a token that contains the text. */
const claimsIn = (text: string) => {
  for (const one of [text, jwt(text)]) {
    const { accountId, email, expiresAtMs } = claimsOf(Redacted.make(one))
    expect(
      [accountId, email].every((claim) => claim === undefined || typeof claim === "string") &&
        (expiresAtMs === undefined || typeof expiresAtMs === "number"),
      "returns a claim of another type",
    )
  }
}

/** Texts of `auth.json`. */
export const authFiles: Edge = {
  name: "auth-json",
  summary: "`auth.json` and the claims of tokens (cli/auth).",
  corpus: logins,
  mutate: mutateJoined("\n", logins),
  open: pure((input) => {
    const text = textOf(input)
    claimsIn(text)
    const kept = Result.map(parseStored(text), credentialsOf)
    if (Result.isFailure(kept)) {
      expect(kept.failure.length < 200, "quotes the file in its error")
      return "rejected"
    }
    if (kept.success?._tag === "Tokens") {
      claimsIn(Redacted.value(kept.success.tokens.accessToken))
      Date.parse(kept.success.refreshedAt)
    }
    return "accepted"
  }),
}
