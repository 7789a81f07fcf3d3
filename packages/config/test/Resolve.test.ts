import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import {
  SettingsError,
  type SettingsOverrides,
  SettingsResolver,
} from "@colloquy/core/ConversationSettings"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as ConfigTree from "../src/ConfigTree.ts"
import { toStored } from "@colloquy/core/store/Settings"
import * as Resolve from "../src/Resolve.ts"

const provider = (id: string): ModelProvider => ({
  id,
  name: id,
  wire: "responses",
  baseUrl: `http://${id}`,
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.minutes(5),
})
const openai = provider("openai")
const offline = provider("offline")

const source = (toml = "", defaultProvider = "openai"): Resolve.ResolveSource => ({
  tree: Result.getOrThrow(ConfigTree.parseToml(toml)),
  builtinProviders: [openai, provider("oss"), offline],
  defaultProvider,
  cwd: "/work/here",
})

const settings = (toml: string, overrides: SettingsOverrides = {}) =>
  Result.getOrThrow(Resolve.resolve(source(toml), overrides))

const problem = (toml: string, overrides: SettingsOverrides = {}) =>
  Result.match(Resolve.resolve(source(toml), overrides), {
    onSuccess: () => "no error",
    onFailure: (error) => error.message,
  })

describe("Resolve", () => {
  it("experimental_resume applies to new conversations only, and an empty path means none", () => {
    const toml = 'experimental_resume = "/sessions/one.jsonl"'
    assert.strictEqual(settings(toml).resumePath, "/sessions/one.jsonl")
    assert.isUndefined(settings(toml, { stored: toStored(settings(toml)) }).resumePath)
    assert.isUndefined(settings(toml, { config: { experimental_resume: "" } }).resumePath)
    assert.include(problem("experimental_resume = 5"), "in `experimental_resume`")
  })

  it("L13 keys set by command-line options win over a profile, arguments of a call win over both", () => {
    const toml = `model = "of the option"
sandbox_mode = "read-only"
approval_policy = "untrusted"
[profiles.d]
model = "of the profile"
sandbox_mode = "danger-full-access"
approval_policy = "never"
model_verbosity = "low"
`
    const flagKeys = new Set(["model", "sandbox_mode", "approval_policy"])
    const chosen = (profile: string, overrides: SettingsOverrides = {}) => {
      const { approvalPolicy, model, sandboxPolicy, verbosity } = Result.getOrThrow(
        Resolve.resolve({ ...source(`${profile}${toml}`), flagKeys }, overrides),
      )
      return [model, sandboxPolicy.mode, approvalPolicy, verbosity]
    }
    const flags = ["of the option", "read-only", "untrusted", "low"]
    const ofProfile = ["of the profile", "danger-full-access", "never", "low"]
    assert.deepStrictEqual(chosen('profile = "d"\n'), flags)
    assert.deepStrictEqual(chosen('profile = "d"\n', { config: { profile: null } }), flags)
    assert.deepStrictEqual(chosen("", { profile: "d" }), ofProfile)
    assert.deepStrictEqual(chosen("", { config: { profile: "d" } }), ofProfile)
    assert.deepStrictEqual(chosen('profile = "d"\n', { config: { model: "of the call" } }), [
      "of the call",
      ...flags.slice(1),
    ])
    assert.deepStrictEqual(chosen('profile = "d"\n', { sandbox: "workspace-write" }), [
      flags[0],
      "workspace-write",
      ...flags.slice(2),
    ])
  })

  it("null in `config` of a call means absent; in an array it is an error that names the array", () => {
    const toml = 'model = "m"\n[model_providers.p]\nname = "P"\n'
    const keys = [
      "model",
      "profile",
      "mcp_servers",
      "profiles",
      "sandbox_workspace_write",
      "notify",
    ]
    for (const path of [
      ...keys,
      "mcp_servers.x",
      "mcp_servers.x.env",
      "model_providers.p.env_key",
    ]) {
      assert.strictEqual(settings(toml, { config: { [path]: null } }).model, "m", path)
    }
    assert.deepStrictEqual(
      settings("", { config: { mcp_servers: { x: { command: "run", env: null, args: null } } } })
        .mcpServers?.["x"]?.transport,
      { _tag: "Stdio", command: "run", args: [], env: {} },
    )
    assert.strictEqual(
      problem("", { config: { notify: ["run", null] } }),
      "invalid type: null, expected a string\nin `notify.1`\n",
    )
  })

  for (const effort of ["none", "minimal", "low", "medium", "high", "xhigh"] as const) {
    it(`the reasoning effort ${effort} is accepted`, () => {
      assert.strictEqual(settings(`model_reasoning_effort = "${effort}"`).effort, effort)
    })
  }

  for (const [name, toml, overrides] of [
    ["`model` of the file", 'model = ""', {}],
    ["`model` of a profile", 'profile = "p"\n[profiles.p]\nmodel = " "', {}],
    ["`profile` of the file", 'profile = ""', {}],
    ["`model_provider` of the file", 'model_provider = ""', {}],
    ["`model` of a call", 'model = "m"', { model: "" }],
    ["`profile` of a call", "", { profile: " " }],
    ["`model` in `config` of a call", "", { config: { model: "" } }],
    ["`profile` in `config` of a call", "", { config: { profile: "" } }],
  ] as const) {
    it(`an empty ${name} is an error that names the key`, () => {
      assert.match(
        problem(toml, overrides),
        /^invalid value: string, expected a name that is not empty\nin `(profiles\.p\.)?(model|profile|model_provider)`\n$/,
      )
    })
  }

  it("without any configuration the defaults of the original apply", () => {
    assert.deepStrictEqual(settings(""), {
      model: "gpt-5",
      provider: openai,
      cwd: "/work/here",
      approvalPolicy: "on-request",
      sandboxPolicy: { mode: "read-only" },
      includePlanTool: false,
      summary: "auto",
      contextWindow: 272_000,
      showRawReasoning: false,
    })
  })

  it("every key of a config.toml of the original takes effect and unknown ones are ignored", () => {
    const toml = `
      model = "any-name"
      model_provider = "mock"
      approval_policy = "never"
      sandbox_mode = "workspace-write"
      model_reasoning_effort = "high"
      model_reasoning_summary = "detailed"
      model_verbosity = "low"
      model_context_window = 1234
      show_raw_agent_reasoning = true
      include_plan_tool = true
      notify = ["x"]
      released = 2025-09-01T00:00:00Z
      [sandbox_workspace_write]
      writable_roots = ["/a/../b", "c"]
      network_access = true
      [model_providers.mock]
      name = "Mock"
      base_url = "http://127.0.0.1:4010/v1/"
      env_key = "MOCK_KEY"
      env_key_instructions = "Ask the mock."
      experimental_bearer_token = "tok"
      query_params = { v = "1" }
      http_headers = { a = "b" }
      env_http_headers = { c = "D" }
      request_max_retries = 0
      stream_max_retries = 1000
      stream_idle_timeout_ms = 5
      [tui]
      theme = "dark"
    `
    assert.deepStrictEqual(settings(toml), {
      model: "any-name",
      provider: {
        id: "mock",
        name: "Mock",
        wire: "chat",
        baseUrl: "http://127.0.0.1:4010/v1",
        envKey: "MOCK_KEY",
        envKeyInstructions: "Ask the mock.",
        bearerToken: Redacted.make("tok"),
        queryParams: { v: "1" },
        httpHeaders: { a: "b" },
        envHttpHeaders: { c: "D" },
        requestMaxRetries: 0,
        streamMaxRetries: 100,
        streamIdleTimeout: Duration.millis(5),
      },
      cwd: "/work/here",
      approvalPolicy: "never",
      sandboxPolicy: {
        mode: "workspace-write",
        writable_roots: ["/b", "/work/here/c"],
        network_access: true,
        exclude_tmpdir_env_var: false,
        exclude_slash_tmp: false,
      },
      includePlanTool: true,
      effort: "high",
      summary: "detailed",
      verbosity: "low",
      contextWindow: 1234,
      showRawReasoning: true,
      // Commands never see the variable.
      secretNames: ["MOCK_KEY", "D"],
    })
  })

  it("tools that are off by default are offered where the configuration says so", () => {
    const { includeUserInputTool, includeWebSearchTool } = settings(`
      [tools]
      web_search = true
      request_user_input = true
    `)
    assert.deepStrictEqual([includeUserInputTool, includeWebSearchTool], [true, true])
  })

  it("the approval of the tools of a server is what its table says", () => {
    const { mcpServers } = settings(`
      [mcp_servers.a]
      command = "x"
      default_tools_approval_mode = "prompt"
      [mcp_servers.b]
      command = "x"
    `)
    assert.strictEqual(mcpServers?.["a"]?.approval, "prompt")
    assert.notProperty(mcpServers?.["b"], "approval")
  })

  it("overrides of a client win over the whole configuration", () => {
    const overrides = {
      model: "o3-pro",
      cwd: "../there/./x",
      approvalPolicy: "untrusted",
      sandbox: "danger-full-access",
      baseInstructions: "base",
      developerInstructions: "developer",
      compactPrompt: "compact",
      includePlanTool: false,
    } as const
    assert.deepStrictEqual(
      settings('model = "m"\napproval_policy = "never"\ninclude_plan_tool = true', overrides),
      {
        model: "o3-pro",
        provider: openai,
        cwd: "/work/there/x",
        approvalPolicy: "untrusted",
        sandboxPolicy: { mode: "danger-full-access" },
        baseInstructions: "base",
        developerInstructions: "developer",
        compactPrompt: "compact",
        includePlanTool: false,
        summary: "auto",
        contextWindow: 200_000,
        showRawReasoning: false,
      },
    )
  })

  const profiled =
    'model = "top"\n[profiles.p]\nmodel = "profile"\n[profiles.constructor]\nmodel="c"'
  for (const [situation, overrides, model] of [
    ["the top level applies without a profile", {}, "top"],
    ["an edit wins over the top level", { config: { model: "edit" } }, "edit"],
    ["a profile wins over the top level", { profile: "p" }, "profile"],
    ["a profile chosen by an edit applies", { config: { profile: "p" } }, "profile"],
    [
      "a profile wins over an edit of the top level",
      { profile: "p", config: { model: "e" } },
      "profile",
    ],
    [
      "an edit inside the profile wins over it",
      { profile: "p", config: { "profiles.p.model": "e" } },
      "e",
    ],
    ["a model argument wins over the profile", { profile: "p", model: "asked" }, "asked"],
    [
      "a profile may have the name of an object's inherited member",
      { profile: "constructor" },
      "c",
    ],
  ] as const) {
    it(situation, () => assert.strictEqual(settings(profiled, overrides).model, model))
  }

  for (const [name, toml, message] of [
    ["an unknown profile", 'profile = "nope"', "config profile `nope` not found"],
    [
      "a profile named like a member",
      'profile = "toString"',
      "config profile `toString` not found",
    ],
    ["an unknown provider", 'model_provider = "nope"', "Model provider `nope` not found"],
    [
      "a provider named like a member",
      'model_provider = "valueOf"',
      "Model provider `valueOf` not found",
    ],
    [
      "an unknown name of a closed set",
      'model_reasoning_effort = "bogus"',
      "unknown variant `bogus`, expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`\nin `model_reasoning_effort`\n",
    ],
    [
      "a misspelt name of a closed set",
      '[profiles.p]\nsandbox_mode = "workspace_wirte"',
      "unknown variant `workspace_wirte`, expected one of `read-only`, `workspace-write`, `danger-full-access`, `external-sandbox`, did you mean `workspace-write`?\nin `profiles.p.sandbox_mode`\n",
    ],
    [
      "another type where a name is expected",
      "approval_policy = 1",
      "invalid type: integer `1`, expected one of `untrusted`, `on-failure`, `on-request`, `never`, a map\nin `approval_policy`\n",
    ],
    [
      "a number where a text is expected",
      "model = 4.5",
      "invalid type: floating point `4.5`, expected a string\nin `model`\n",
    ],
    [
      "a text where a flag is expected",
      'show_raw_agent_reasoning = "yes"',
      "invalid type: string, expected a boolean\nin `show_raw_agent_reasoning`\n",
    ],
    [
      "a date where a number is expected",
      "model_context_window = 2025-09-01T00:00:00Z",
      "invalid type: datetime, expected a non-negative integer\nin `model_context_window`\n",
    ],
    [
      "a fraction where a count is expected",
      "model_context_window = 0.5",
      "invalid value: floating point `0.5`, expected a non-negative integer\nin `model_context_window`\n",
    ],
    [
      "a negative count",
      '[model_providers.m]\nname = "M"\nstream_max_retries = -1',
      "invalid value: integer `-1`, expected a non-negative integer\nin `model_providers.m.stream_max_retries`\n",
    ],
    [
      "a provider without a name",
      '[model_providers.m]\nbase_url = "http://x"',
      "missing field `name`\nin `model_providers.m`\n",
    ],
    [
      "a table where a list is expected",
      "[sandbox_workspace_write.writable_roots]",
      "invalid type: map, expected a sequence\nin `sandbox_workspace_write.writable_roots`\n",
    ],
    [
      "a flag in a list of texts",
      "sandbox_workspace_write.writable_roots = [true]",
      "invalid type: boolean `true`, expected a string\nin `sandbox_workspace_write.writable_roots.0`\n",
    ],
    [
      "a text where a map is expected, which may hold a secret",
      '[model_providers.m]\nname = "M"\nhttp_headers = "Bearer sk-1"',
      "invalid type: string, expected a map\nin `model_providers.m.http_headers`\n",
    ],
  ] as const) {
    it(`${name} is an error that names it`, () => assert.strictEqual(problem(toml), message))
  }

  it("a value in a client's edit is checked like one of the file", () => {
    assert.strictEqual(
      problem("", { config: { model_reasoning_effort: "bogus" } }),
      "unknown variant `bogus`, expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`\nin `model_reasoning_effort`\n",
    )
  })

  it("an entry of the same id does not replace a built-in provider", () => {
    assert.strictEqual(settings('[model_providers.openai]\nname = "Mine"').provider, openai)
  })

  it("a configured provider has the chat wire and the original's number of retries by default", () => {
    const toml =
      'model_provider = "m"\n[model_providers.m]\nname = "M"\nbase_url = "http://m/"\nrequires_openai_auth = true'
    assert.deepStrictEqual(settings(toml).provider, {
      id: "m",
      name: "M",
      wire: "chat",
      baseUrl: "http://m",
      envKey: "OPENAI_API_KEY",
      queryParams: {},
      httpHeaders: {},
      envHttpHeaders: {},
      requestMaxRetries: 4,
      streamMaxRetries: 5,
      streamIdleTimeout: Duration.minutes(5),
    })
  })

  it("each built-in provider has a default model", () => {
    const model = (id: string) => settings(`model_provider = "${id}"`).model
    assert.deepStrictEqual(["openai", "oss", "offline"].map(model), [
      "gpt-5",
      "gpt-oss:20b",
      "offline",
    ])
    const fallback = Resolve.resolve(source("", "offline"), {})
    assert.strictEqual(Result.getOrThrow(fallback).provider, offline)
  })

  for (const [model, window] of [
    ["o3-mini", 200_000],
    ["o4-mini", 200_000],
    ["codex-mini-latest", 200_000],
    ["gpt-4.1-nano", 1_047_576],
    ["gpt-4o", 128_000],
    ["gpt-3.5-turbo", 16_385],
    ["gpt-oss:20b", 96_000],
    ["gpt-5-codex", 272_000],
    ["codex-other", 272_000],
    ["offline", null],
    ["my-gpt-5", null],
  ] as const) {
    it(`the context window of ${model} is ${window}`, () => {
      assert.strictEqual(settings("", { model }).contextWindow, window)
    })
  }

  for (const [cwd, resolved] of [
    ["", "/work/here"],
    [".", "/work/here"],
    ["sub//dir/", "/work/here/sub/dir"],
    ["/abs/./a/../b", "/abs/b"],
    ["../../../..", "/"],
    ["C:\\a\\..\\b/c", "C:\\b\\c"],
  ] as const) {
    it(`the directory "${cwd}" is resolved to ${resolved}`, () => {
      assert.strictEqual(settings("", { cwd }).cwd, resolved)
    })
  }

  it("a stored conversation keeps its settings and gets the present configuration of its provider", () => {
    const toml = `
      model = "m"
      model_provider = "a"
      model_reasoning_effort = "high"
      on_restart = "continue"
      [model_providers.a]
      name = "A"
      base_url = "https://a.example"
      [model_providers.b]
      name = "B"
      base_url = "https://b.example"
    `
    const before = settings(toml, { config: { model_provider: "b" }, cwd: "/there" })
    assert.strictEqual(before.onRestart, "continue")
    const stored = toStored({ ...before, model: "other" })
    assert.notInclude(JSON.stringify(stored), "https://b.example")
    assert.deepStrictEqual(settings(toml, { stored }), { ...before, model: "other" })
    // A setting that was absent then stays absent.
    const { effort: _, ...plain } = stored
    assert.isUndefined(settings(toml, { stored: plain }).effort)
  })

  it("a tool server that is neither a program nor an address is an error that names its key", () => {
    const failed = Resolve.resolve(source('[mcp_servers.a]\ncomand = "x"'), {})
    assert.deepStrictEqual(
      Result.isFailure(failed) ? [failed.failure.message, failed.failure.key] : undefined,
      ["`mcp_servers.a`: expected either `command` or `url`", "mcp_servers.a"],
    )
  })

  it.effect("the layer provides settings and errors as values", () =>
    Effect.gen(function* () {
      const resolver = yield* SettingsResolver
      assert.strictEqual((yield* resolver.resolve({ model: "m" })).model, "m")
      assert.deepStrictEqual(
        yield* Effect.flip(resolver.resolve({ profile: "nope" })),
        new SettingsError({ message: "config profile `nope` not found" }),
      )
    }).pipe(Effect.provide(Resolve.layer(source()))),
  )

  it("the layer refuses an option that does not exist, with the name that was meant", () => {
    assert.throws(
      // @ts-expect-error -- the option is `defaultProvider`
      () => Resolve.layer({ ...source(), defaultProvder: "openai" }),
      "Resolve.layer: unknown option `defaultProvder`; did you mean `defaultProvider`?",
    )
  })
})
