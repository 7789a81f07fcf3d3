import * as ConfigTree from "@colloquy/config/ConfigTree"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as UserConfigFile from "../../src/config/UserConfigFile.ts"
import * as LiveSettings from "../../src/config/LiveSettings.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-saved-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

const stage = (text: string | undefined, args: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const path = join(directory, "config.toml")
    if (text !== undefined) Fs.writeFileSync(path, text)
    const live = LiveSettings.make({
      stateDirectory: directory,
      overrides: Result.getOrThrow(ConfigTree.parseOverrides(args)),
      source: () => ({ builtinProviders: [], defaultProvider: "openai", cwd: directory }),
    })
    const config = yield* Effect.provide(UserConfig, UserConfigFile.layer(directory, live))
    return { config, path, read: () => Fs.readFileSync(path, "utf8") }
  })

describe("UserConfigFile", () => {
  it.live(
    "returns the contents of the file in the names of the wire; of a profile every member",
    () =>
      Effect.gen(function* () {
        const { config } = yield* stage(`approval_policy = "on-request"
sandbox_mode = "workspace-write"
model = "gpt-5"
model_reasoning_effort = "high"
model_reasoning_summary = "detailed"
model_verbosity = "medium"
profile = "test"
[sandbox_workspace_write]
writable_roots = ["/tmp"]
network_access = true
exclude_tmpdir_env_var = true
exclude_slash_tmp = true
[tools]
web_search = false
view_image = true
[profiles.test]
model = "gpt-4o"
model_provider = "openai"
`)
        assert.deepStrictEqual(yield* config.saved, {
          approvalPolicy: "on-request",
          sandboxMode: "workspace-write",
          sandboxSettings: {
            writableRoots: ["/tmp"],
            networkAccess: true,
            excludeTmpdirEnvVar: true,
            excludeSlashTmp: true,
          },
          model: "gpt-5",
          modelReasoningEffort: "high",
          modelReasoningSummary: "detailed",
          modelVerbosity: "medium",
          tools: { webSearch: false, viewImage: true },
          profile: "test",
          profiles: {
            test: {
              model: "gpt-4o",
              modelProvider: "openai",
              approvalPolicy: null,
              modelReasoningEffort: null,
              modelReasoningSummary: null,
              modelVerbosity: null,
              chatgptBaseUrl: null,
            },
          },
        })
      }).pipe(Effect.scoped),
  )

  it.live("the policy `granular` is returned as the policy with a name that it restricts", () =>
    Effect.gen(function* () {
      const granular =
        "granular = { sandbox_approval = true, rules = true, mcp_elicitations = true }"
      const { config } = yield* stage(
        `[approval_policy]\n${granular}\n[profiles.p.approval_policy]\n${granular}\n`,
      )
      const { approvalPolicy, profiles } = yield* config.saved
      assert.deepStrictEqual(
        [approvalPolicy, profiles["p"]?.approvalPolicy],
        ["on-request", "on-request"],
      )
    }).pipe(Effect.scoped),
  )

  it.live("a missing file gives nothing, an invalid one an error with the position", () =>
    Effect.gen(function* () {
      const missing = yield* stage(undefined)
      assert.deepStrictEqual(yield* missing.config.saved, { profiles: {} })
      const wrong = yield* stage('model = "m"\nsandbox_mode = "none"\n')
      const fault = yield* Effect.flip(wrong.config.saved)
      assert.strictEqual(fault.step, "parse")
      assert.match(fault.message, /config\.toml:2: unknown variant `none`/)
      const broken = yield* stage("model = sk-secret")
      const failure = yield* Effect.flip(broken.config.saved)
      assert.strictEqual(failure.step, "load")
      assert.notInclude(failure.message, "sk-secret")
    }).pipe(Effect.scoped),
  )

  it.live(
    "the default model is written to the active profile, else to the top level; undefined removes it",
    () =>
      Effect.gen(function* () {
        const plain = yield* stage('# mine\nmodel = "one"\nmodel_reasoning_effort = "low"\n')
        yield* plain.config.setDefaultModel({ model: "two", reasoningEffort: undefined })
        assert.strictEqual(plain.read(), '# mine\nmodel = "two"\n')
        const text = 'model = "one"\n[profiles.fast]\nmodel = "small" # quick\n'
        const profiled = yield* stage(text, ["profile=fast"])
        yield* profiled.config.setDefaultModel({ model: "big", reasoningEffort: "high" })
        assert.strictEqual(
          profiled.read(),
          'model = "one"\n[profiles.fast]\nmodel = "big" # quick\nmodel_reasoning_effort = "high"\n',
        )
      }).pipe(Effect.scoped),
  )
})
