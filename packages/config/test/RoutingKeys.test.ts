import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { Config } from "../src/ConfigSchema.ts"
import * as ConfigTree from "../src/ConfigTree.ts"
import * as Resolve from "../src/Resolve.ts"
import { meantRoutingKey } from "../src/RoutingKeys.ts"

const offlineProvider = {
  id: "offline",
  name: "offline",
  wire: "offline",
  baseUrl: "",
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.minutes(5),
} as const

const problem = (toml: string, config: Readonly<Record<string, unknown>> = {}) => {
  const tree = Result.getOrThrow(ConfigTree.parseToml(toml))
  const source = {
    tree,
    builtinProviders: [offlineProvider],
    defaultProvider: "offline",
    cwd: "/",
  }
  return Result.match(Resolve.resolve(source, { config }), {
    onSuccess: () => undefined,
    onFailure: ({ key, message }) => [key, message],
  })
}

/** Keys of the top level and of profiles in versions of the original that are not known here. */
const ofOriginal = [
  "agents",
  "allow_login_shell",
  "analytics",
  "apps",
  "audio",
  "background_terminal_max_timeout",
  "check_for_update_on_startup",
  "cli_auth_credentials_store",
  "commit_attribution",
  "default_permissions",
  "developer_instructions",
  "experimental_compact_prompt_file",
  "features",
  "feedback",
  "forced_chatgpt_workspace_id",
  "forced_login_method",
  "ghost_snapshot",
  "hooks",
  "include_view_image_tool",
  "log_dir",
  "mcp_oauth_callback_port",
  "mcp_oauth_credentials_store",
  "memories",
  "model_catalog_json",
  "model_instructions_file",
  "notice",
  "oss_provider",
  "otel",
  "permissions",
  "personality",
  "plan_mode_reasoning_effort",
  "plugins",
  "preferred_auth_method",
  "project_doc_fallback_filenames",
  "project_root_markers",
  "responses_originator_header_internal_override",
  "service_tier",
  "skills",
  "sqlite_home",
  "suppress_unstable_features_warning",
  "tool_output_token_limit",
  "trust_level",
  "web_search",
  "windows",
  "zsh_path",
]

describe("L13 a misspelt key that decides where prompts are sent is an error", () => {
  for (const [key, meant] of [
    ["model_providr", "model_provider"],
    ["modelProvider", "model_provider"],
    ["model-provider", "model_provider"],
    ["modle_provider", "model_provider"],
    ["model_provders", "model_providers"],
    ["porfile", "profile"],
    ["profil", "profile"],
    ["proflies", "profiles"],
    ["chatgpt_base_ulr", "chatgpt_base_url"],
  ] as const) {
    const fault = (path: string) => [
      path,
      `unknown field \`${key}\`, did you mean \`${meant}\`?\nin \`${path}\`\n`,
    ]

    it(`${key} is recognized as a misspelling of ${meant}`, () => {
      assert.deepStrictEqual(problem(`${key} = "local"`), fault(key))
      assert.deepStrictEqual(problem(`[${key}.x]\nname = "local"`), fault(key))
      assert.deepStrictEqual(problem("", { [key]: "local" }), fault(key))
      assert.deepStrictEqual(problem("", { [`${key}.x`]: "local" }), fault(key))
      assert.deepStrictEqual(problem(`[profiles.d]\n${key} = "local"`), fault(`profiles.d.${key}`))
    })
  }

  it("a key of the original that names a host and is not supported says what to set instead", () => {
    const fault = (path: string) => [
      path,
      `\`openai_base_url\` is not supported; set the environment variable \`OPENAI_BASE_URL\`, or \`base_url\` of a provider in \`model_providers\`\nin \`${path}\`\n`,
    ]
    const toml = `openai_base_url = "http://localhost:1/v1"`
    assert.deepStrictEqual(problem(toml), fault("openai_base_url"))
    assert.deepStrictEqual(problem("", { openai_base_url: "x" }), fault("openai_base_url"))
    assert.deepStrictEqual(problem(`[profiles.d]\n${toml}`), fault("profiles.d.openai_base_url"))
  })

  it("known keys, keys of the original and keys that resemble none of them are accepted", () => {
    for (const key of [
      ...Object.keys(Config.fields),
      ...ofOriginal,
      "zzz",
      "modle",
      "sandbox_mod",
    ]) {
      assert.isUndefined(meantRoutingKey(key), key)
    }
    for (const key of [...ofOriginal, "zzz", "sandbox_mod"]) {
      assert.isUndefined(problem(`${key} = "local"\n[profiles.d]\n${key} = "local"`), key)
    }
  })
})
