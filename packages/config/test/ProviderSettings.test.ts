import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { SettingsOverrides } from "@colloquy/core/ConversationSettings"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as ConfigTree from "../src/ConfigTree.ts"
import * as Resolve from "../src/Resolve.ts"

const builtin = (id: string, wire: ModelProvider["wire"], baseUrl: string): ModelProvider => ({
  id,
  name: id,
  wire,
  baseUrl,
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.minutes(5),
})

const builtins = [
  builtin("openai", "responses", "https://openai.example/v1"),
  builtin("offline", "offline", ""),
]

interface Found {
  readonly provider?: ModelProvider
  readonly message?: string
  readonly key?: string | undefined
}

const resolve = (
  toml: string,
  overrides: SettingsOverrides = {},
  source: Partial<Resolve.ResolveSource> = {},
): Found =>
  Result.match(
    Resolve.resolve(
      {
        tree: Result.getOrThrow(ConfigTree.parseToml(toml)),
        builtinProviders: builtins,
        cwd: "/w",
        defaultProvider: "openai",
        ...source,
      },
      overrides,
    ),
    {
      onSuccess: ({ provider }) => ({ provider }),
      onFailure: ({ key, message }) => ({ message, key }),
    },
  )

const mine = (members: string) =>
  `model_provider = "mine"\n[model_providers.mine]\nname = "Mine"\n${members}`

describe("the address of a provider", () => {
  const missing = {
    message:
      "missing field `base_url`, expected the address of the provider, for example `http://127.0.0.1:8080/v1`\nin `model_providers.mine`\n",
    key: "model_providers.mine",
  }

  for (const [name, toml, overrides] of [
    ["is absent", mine(""), {}],
    ["is empty", mine('base_url = ""'), {}],
    ["is blank", mine('base_url = "  "'), {}],
    ["is absent beside a key of OpenAI", mine("requires_openai_auth = true"), {}],
    [
      "is absent in a provider that only an edit of a client selects",
      '[model_providers.mine]\nname = "Mine"',
      { config: { model_provider: "mine" } },
    ],
    [
      "is absent in a provider that a profile selects",
      '[model_providers.mine]\nname = "Mine"\n[profiles.p]\nmodel_provider = "mine"',
      { profile: "p" },
    ],
  ] as const) {
    it(`L13 that ${name} is an error and is never replaced by another host`, () => {
      assert.deepStrictEqual(resolve(toml, overrides), missing)
    })
  }

  it("that is null in a client's edit is taken from the file", () => {
    const overrides = { config: { "model_providers.mine.base_url": null } }
    assert.strictEqual(
      resolve(mine('base_url = "http://mine"'), overrides).provider?.baseUrl,
      "http://mine",
    )
  })

  it("is not required for a provider that is not used", () => {
    const toml = 'model_provider = "openai"\n[model_providers.mine]\nname = "Mine"'
    assert.deepStrictEqual(resolve(toml).provider, builtins[0])
  })

  it("of a built-in provider is not replaced: an entry with another address is an error", () => {
    const entry = (url: string) => `[model_providers.openai]\nname = "Proxy"\nbase_url = "${url}"`
    assert.deepStrictEqual(resolve(entry("http://proxy.example/v1")), {
      message:
        "provider `openai` is built in and its address is not replaced, expected another id for this provider\nin `model_providers.openai.base_url`\n",
      key: "model_providers.openai.base_url",
    })
    assert.deepStrictEqual(resolve(entry("https://openai.example/v1/")).provider, builtins[0])
  })

  it("is the same with and without a slash at its end", () => {
    for (const url of ["http://mine/v1", "http://mine/v1/", " http://mine/v1// "]) {
      const found = resolve(mine(`base_url = "${url}"`))
      assert.strictEqual(found.provider?.baseUrl, "http://mine/v1")
    }
  })
})

describe("a misspelt key of a provider", () => {
  it.each([
    ["base_ulr", "base_url"],
    ["baseUrl", "base_url"],
    ["base-url", "base_url"],
    ["wire_apis", "wire_api"],
    ["env_kye", "env_key"],
    ["http_header", "http_headers"],
    ["headers", "http_headers"],
    ["query_parms", "query_params"],
    ["stream_max_retry", "stream_max_retries"],
    ["require_openai_auth", "requires_openai_auth"],
  ])("L13 `%s` is an error that names `%s`", (key, meant) => {
    const error = {
      message: `unknown field \`${key}\`, did you mean \`${meant}\`?\nin \`model_providers.mine.${key}\`\n`,
      key: `model_providers.mine.${key}`,
    }
    assert.deepStrictEqual(resolve(mine(`base_url = "http://mine"\n${key} = "x"`)), error)
    // Also when the provider is not selected yet, and in an edit by a client.
    const unused = `[model_providers.mine]\nname = "Mine"\n${key} = "x"`
    assert.deepStrictEqual(resolve(unused), error)
    const config = { [`model_providers.mine.${key}`]: "x" }
    assert.deepStrictEqual(resolve(mine('base_url = "http://mine"'), { config }), error)
  })

  it.each([
    "experimental_bearer_token",
    "supports_websockets",
    "websocket_connect_timeout_ms",
    "auth",
    "aws",
    "colour",
  ])("is not reported for `%s`, which a later version or another program uses", (key) => {
    const found = resolve(mine(`base_url = "http://mine"\n${key} = "x"`))
    assert.strictEqual(found.provider?.baseUrl, "http://mine")
  })
})

describe("without a configured provider", () => {
  const unconfigured = { defaultProvider: "openai", missingProviderMessage: "Set KEY." }
  const error = { message: "Set KEY.", key: "model_provider" }
  const creating = { requiresProvider: true }

  it("a new conversation is an error that says what to configure, whether it names a model or not", () => {
    assert.deepStrictEqual(resolve("", creating, unconfigured), error)
    assert.deepStrictEqual(resolve("", { ...creating, model: "gpt-5" }, unconfigured), error)
    assert.deepStrictEqual(resolve('model = "gpt-5"', creating, unconfigured), error)
  })

  it("settings are resolved for everything except a new conversation", () => {
    assert.strictEqual(resolve("", {}, unconfigured).provider?.id, "openai")
  })

  it("the offline provider is selected by its id or by its model", () => {
    for (const [toml, overrides] of [
      ['model_provider = "offline"', {}],
      ['model = "offline"', {}],
      ["", { model: "offline" }],
      ["", { config: { model: "offline" } }],
      ["", { config: { model_provider: "offline" } }],
      ['[profiles.p]\nmodel_provider = "offline"', { profile: "p" }],
    ] as const) {
      for (const source of [unconfigured, { defaultProvider: "openai" }]) {
        const found = resolve(toml, { ...overrides, ...creating }, source)
        assert.strictEqual(found.provider?.id, "offline")
      }
    }
  })

  it("a configured provider may have a model named offline", () => {
    const found = resolve(
      mine('base_url = "http://mine"'),
      { ...creating, model: "offline" },
      unconfigured,
    )
    assert.strictEqual(found.provider?.id, "mine")
  })
})
