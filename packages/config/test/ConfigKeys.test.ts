import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { keysOf, unknownKeys } from "../src/ConfigKeys.ts"
import { Config } from "../src/ConfigSchema.ts"
import * as ConfigTree from "../src/ConfigTree.ts"
import * as Resolve from "../src/Resolve.ts"

const provider = (id: string) => ({
  id,
  name: id,
  wire: "responses" as const,
  baseUrl: `http://${id}`,
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.minutes(5),
})

const tree = (toml: string) => Result.getOrThrow(ConfigTree.parseToml(toml))

/** Adds the tables around a key, so that only the key makes a difference. */
const around = `
  model_provider = "p"
  sandbox_mode = "workspace-write"
  [model_providers.p]
  name = "P"
  base_url = "http://p"
  [mcp_servers.s]
  command = "c"
  [profiles.name]
  [shell_environment_policy]
  [sandbox_workspace_write]
  [tools]
`

const resolved = (base: ConfigTree.ConfigTree, path?: string, value?: unknown) =>
  Resolve.resolve(
    {
      tree: path === undefined ? base : ConfigTree.set(base, path, value),
      builtinProviders: [provider("openai")],
      defaultProvider: "openai",
      cwd: "/w",
    },
    {},
  )

const chosen = (path: string) =>
  path
    .replace("model_providers.<name>", "model_providers.p")
    .replace("mcp_servers.<name>", "mcp_servers.s")
    .replace("<name>", "name")

describe("ConfigKeys", () => {
  const keys = keysOf(Config)

  it("every key has a description, and none is listed twice", () => {
    assert.deepStrictEqual(
      keys.filter(({ description, path }) => description === "" && !path.endsWith(".<name>")),
      [],
    )
    assert.strictEqual(new Set(keys.map(({ path }) => path)).size, keys.length)
    assert.includeMembers(
      keys.map(({ path }) => path),
      [
        "model",
        "profiles.<name>.approval_policy",
        "model_providers.<name>.http_headers.<name>",
        "mcp_servers.<name>.command",
        "projects.<name>.trust_level",
        "tui.notifications",
      ],
    )
  })

  /**
   * Naming a provider selects it, and without the key the tree does, so this key is not compared.
   */
  const withDefault = keys.filter(
    (key) => key.default !== undefined && key.path !== "model_provider",
  )

  it.each(withDefault.map((key) => [key.path, key] as const))(
    "%s: setting the key to its default changes nothing",
    (_, key) => {
      const base = tree(key.path.startsWith("sandbox_mode") ? 'model_provider = "openai"' : around)
      const plain = Result.getOrThrow(resolved(base))
      const explicit = Result.getOrThrow(resolved(base, chosen(key.path), key.default))
      const settle = (settings: typeof plain) => ({
        ...settings,
        // The code that reads an absent setting applies its default.
        approvalDeadline: settings.approvalDeadline ?? Duration.minutes(10),
        unattended: settings.unattended ?? "deny",
        projectDocMaxBytes: settings.projectDocMaxBytes ?? 32_768,
        includeViewImageTool: settings.includeViewImageTool ?? true,
        onRestart: settings.onRestart ?? "close",
      })
      assert.deepStrictEqual(settle(explicit), settle(plain))
    },
  )

  it("unknown keys are found at any depth, with the nearest known key", () => {
    const found = unknownKeys(
      Config,
      tree(`
        modle = "x"
        released = 2025-09-01T00:00:00Z
        [profiles.fast]
        aproval_policy = "never"
        [model_providers.mine]
        name = "Mine"
        http_headers = { anything = "goes" }
        colour = "red"
        [tools]
        viewimage = true
      `),
    )
    assert.deepStrictEqual(found, [
      { path: "modle", near: "model" },
      { path: "released" },
      { path: "profiles.fast.aproval_policy", near: "profiles.fast.approval_policy" },
      { path: "model_providers.mine.colour" },
      { path: "tools.viewimage", near: "tools.view_image" },
    ])
  })

  it("a tree of known keys has no unknown ones", () => {
    assert.deepStrictEqual(unknownKeys(Config, tree(around)), [])
  })
})
