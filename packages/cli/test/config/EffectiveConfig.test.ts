import * as ConfigTree from "@colloquy/config/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { linesOf } from "../../src/config/ConfigLines.ts"
import { type EffectiveKey, effectiveConfig } from "../../src/config/EffectiveConfig.ts"
import { allKeys } from "../../src/config/AllKeys.ts"
import { lineOf } from "../../src/commands/ConfigCommand.ts"

const effective = (text: string, args: ReadonlyArray<string> = []) =>
  effectiveConfig(allKeys(), {
    file: Result.getOrThrow(ConfigTree.parseToml(text)),
    lines: linesOf(text),
    args: args.map((one) => Result.getOrThrow(ConfigTree.parseOverride(one))),
    chosen: { model_provider: { value: "offline", origin: "no key" } },
  })

const found = (all: ReadonlyArray<EffectiveKey>, path: string) => {
  const key = all.find((one) => one.path.join(".") === path)
  return key === undefined ? undefined : [key.value, key.origin]
}

const file = `model = "one"
profile = "fast"
[profiles.fast]
model = "two"
approval_policy = "never"
[profiles.other]
model = "three"
[model_providers."my own"]
name = "Mine"
base_url = "https://user:sk-secret@host/v1?key=sk-secret#sk-secret"
experimental_bearer_token = "sk-secret"
env_key = "MY_KEY"
http_headers = { Authorization = "Bearer sk-secret" }
query_params = { key = "sk-secret" }
env_http_headers = { X = "MY_HEADER" }
[model_providers.other]
name = "Other"
base_url = "https://host/v1#sk-secret"
[mcp_servers.s]
command = "run"
args = ["--api-key", "sk-secret", "--token=sk-secret", "TOKEN=sk-secret", "plain"]
env = { TOKEN = "sk-secret" }
[shell_environment_policy.set]
TOKEN = "sk-secret"
`

describe("EffectiveConfig", () => {
  it("default, file, -c and profile each override the one before, and each value has its origin", () => {
    const plain = effective("")
    assert.deepStrictEqual(found(plain, "sandbox_mode"), ["read-only", "default"])
    assert.deepStrictEqual(found(plain, "model_provider"), ["offline", "no key"])
    const all = effective(file, ["model=four", "sandbox_mode=workspace-write", "profile=other"])
    assert.deepStrictEqual(found(all, "sandbox_mode"), ["workspace-write", "-c"])
    assert.deepStrictEqual(found(all, "profile"), ["other", "-c"])
    // The profile takes precedence over an edit of the top level, as in the original.
    assert.deepStrictEqual(found(all, "model"), ["three", "profile other, config.toml:7"])
    assert.deepStrictEqual(found(effective(file, ["profiles.fast.model=five"]), "model"), [
      "five",
      "profile fast, -c",
    ])
    assert.deepStrictEqual(found(all, "profiles.fast.approval_policy"), ["never", "config.toml:5"])
    assert.isUndefined(found(all, "profiles.fast.sandbox_mode"))
    assert.isUndefined(found(all, "model_verbosity"))
  })

  it("the policy `granular` is shown whole, and a switch that `-c` sets is its origin", () => {
    const text = `model = "one"
[approval_policy.granular]
sandbox_approval = true
rules = false
mcp_elicitations = false
`
    const granular = { sandbox_approval: true, rules: false, mcp_elicitations: false }
    const plain = found(effective(text), "approval_policy")
    assert.deepStrictEqual(plain, [{ granular }, "config.toml:2"])
    const set = found(effective(text, ["approval_policy.granular.rules=true"]), "approval_policy")
    assert.deepStrictEqual(set, [{ granular: { ...granular, rules: true } }, "-c"])
    const lines = effective(text).map(lineOf).join("")
    const printed = Result.getOrThrow(ConfigTree.parseToml(lines))
    assert.deepStrictEqual(ConfigTree.get(printed, "approval_policy.granular.rules"), false)
  })

  it("L13 an option of the command line wins over a profile, and its name is the origin", () => {
    const all = effectiveConfig(allKeys(), {
      file: Result.getOrThrow(ConfigTree.parseToml(file)),
      lines: linesOf(file),
      args: [{ path: "model", value: "six", flag: "--model" }],
      chosen: {},
    })
    assert.deepStrictEqual(found(all, "model"), ["six", "--model"])
    assert.deepStrictEqual(found(all, "approval_policy"), ["never", "profile fast, config.toml:5"])
  })

  it("no secret is shown, but the names of variables are", () => {
    const lines = effective(file).map(lineOf).join("")
    assert.notInclude(lines, "sk-secret")
    assert.include(lines, 'model_providers."my own".env_key = "MY_KEY"')
    assert.include(lines, 'model_providers."my own".env_http_headers.X = "MY_HEADER"')
    assert.include(lines, "https://<redacted>@host/v1?<redacted>")
    assert.include(lines, "https://host/v1#<redacted>")
    assert.include(lines, 'model_providers."my own".experimental_bearer_token = "<redacted>"')
    assert.include(lines, '"plain"]')
  })

  it("prints a config.toml with the same meaning", () => {
    const lines = effective(file, ["projects.p.trust_level=trusted"])
    const tree = Result.getOrThrow(ConfigTree.parseToml(lines.map(lineOf).join("")))
    for (const { path, value } of lines) {
      const at = path.reduce<unknown>(
        (node, name) => (node as Readonly<Record<string, unknown>>)[name],
        tree,
      )
      assert.deepStrictEqual(at, value, path.join("."))
    }
  })
})
