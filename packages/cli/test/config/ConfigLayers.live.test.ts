import * as ConfigTree from "@colloquy/config/ConfigTree"
import { type ConfigEdit, ConfigPort } from "@colloquy/server/thread/host/ports/ConfigPort"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ConfigLayers from "../../src/config/ConfigLayers.ts"
import * as LiveSettings from "../../src/config/LiveSettings.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-layers-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

const stage = (text: string, args: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const path = join(directory, "config.toml")
    Fs.writeFileSync(path, text)
    const overrides = Result.getOrThrow(ConfigTree.parseOverrides(args))
    const source = { builtinProviders: [], defaultProvider: "openai", cwd: directory }
    const live = LiveSettings.make({ stateDirectory: directory, overrides, source: () => source })
    const layer = ConfigLayers.layer(directory, live, { overrides, source })
    const config = yield* Effect.provide(ConfigPort, layer)
    return { config, path, read: () => Fs.readFileSync(path, "utf8") }
  })

const set = (
  keyPath: string,
  value: unknown,
  mergeStrategy: ConfigEdit["mergeStrategy"] = "replace",
) => ({
  keyPath,
  value,
  mergeStrategy,
})

describe("ConfigLayers", () => {
  it.live("shows the values in effect with their layers, and no secret", () =>
    Effect.gen(function* () {
      const text =
        'model = "a"\n[mcp_servers.s]\ncommand = "x"\n[mcp_servers.s.env]\nKEY = "secret"\n'
      const { config, path } = yield* stage(text, ['model="b"'])
      const view = yield* config.read
      assert.deepStrictEqual(view.config, {
        model: "b",
        mcp_servers: { s: { command: "x", env: { KEY: "<redacted>" } } },
      })
      assert.deepStrictEqual(view.origins["model"]?.name, { type: "sessionFlags" })
      const user = { type: "user", file: path, profile: null }
      assert.deepStrictEqual(view.origins["mcp_servers.s.command"]?.name, user)
      assert.deepStrictEqual(
        view.layers.map(({ name }) => name.type),
        ["sessionFlags", "user"],
      )
      assert.notInclude(JSON.stringify(view), "secret")
    }),
  )

  it.live(
    "writes the approval policy `granular` whole and by its switches, and refuses half of it",
    () =>
      Effect.gen(function* () {
        const { config, read } = yield* stage('approval_policy = "never"\n')
        const granular = { sandbox_approval: true, rules: true, mcp_elicitations: false }
        yield* config.write({ edits: [set("approval_policy", { granular })] })
        assert.deepStrictEqual((yield* config.read).config["approval_policy"], { granular })
        yield* config.write({ edits: [set("approval_policy.granular.mcp_elicitations", true)] })
        const view = yield* config.read
        const changed = { granular: { ...granular, mcp_elicitations: true } }
        assert.deepStrictEqual(view.config["approval_policy"], changed)
        assert.isDefined(view.origins["approval_policy.granular.mcp_elicitations"])
        const before = read()
        const without = { edits: [set("approval_policy.granular.rules", null)] }
        const { message, reason } = yield* Effect.flip(config.write(without))
        assert.strictEqual(reason, "invalid")
        assert.include(message, "missing field `rules`\nin `approval_policy.granular`")
        const text = { edits: [set("approval_policy.granular.rules", "yes")] }
        const wrong = yield* Effect.flip(config.write(text))
        assert.include(wrong.message, "in `approval_policy.granular.rules`")
        assert.strictEqual(read(), before)
      }),
  )

  it.live("writes all edits or none, and keeps comments", () =>
    Effect.gen(function* () {
      const { config, read } = yield* stage('# mine\nmodel = "a" # here\n')
      const { version } = yield* config.write({
        edits: [set("model", "b"), set("tools.web_search", true, "upsert")],
      })
      assert.match(version, /^sha256:[0-9a-f]{64}$/)
      assert.include(read(), '# mine\nmodel = "b" # here\n')
      assert.include(read(), "web_search = true")
      const before = read()
      const bad = { edits: [set("model", "c"), set("sandbox_mode", "bogus")] }
      const { message, reason } = yield* Effect.flip(config.write(bad))
      assert.strictEqual(reason, "invalid")
      assert.include(message, "sandbox_mode")
      assert.strictEqual(read(), before)
      yield* config.write({ edits: [set("model", null)], expectedVersion: version })
      assert.notInclude(read(), "model =")
    }),
  )

  it.live("merges tables by `upsert` and replaces them by `replace`", () =>
    Effect.gen(function* () {
      const { config } = yield* stage('[model_providers.x]\nname = "X"\nbase_url = "http://x"\n')
      const provider = Effect.map(config.read, (view) =>
        ConfigTree.get(view.config, "model_providers.x"),
      )
      const url = { base_url: "http://y" }
      yield* config.write({ edits: [set("model_providers.x", url, "upsert")] })
      assert.deepStrictEqual(yield* provider, { name: "X", base_url: "http://y" })
      const whole = { name: "Z", base_url: "http://z" }
      yield* config.write({ edits: [set("model_providers.x", whole)] })
      assert.deepStrictEqual(yield* provider, whole)
    }),
  )

  it.live("refuses another version, another file and bad keys by name", () =>
    Effect.gen(function* () {
      const { config, read } = yield* stage('model = "a"\n')
      const reasonOf = (more: object, edit: ConfigEdit = set("model", "b")) =>
        Effect.map(Effect.flip(config.write({ edits: [edit], ...more })), ({ reason }) => reason)
      assert.strictEqual(yield* reasonOf({ expectedVersion: "sha256:0" }), "conflict")
      assert.strictEqual(yield* reasonOf({ filePath: "/etc/other.toml" }), "readonly")
      for (const key of ["", ".", "a..b", "a."]) {
        assert.strictEqual(yield* reasonOf({}, set(key, 1)), "invalid", key)
      }
      assert.strictEqual(yield* reasonOf({}, set("tools", { web_search: null })), "invalid")
      assert.strictEqual(read(), 'model = "a"\n')
    }),
  )

  it.live("says what has more weight than a written value", () =>
    Effect.gen(function* () {
      const { config } = yield* stage("", ['model="b"'])
      const { overridden } = yield* config.write({ edits: [set("model", "c")] })
      assert.strictEqual(overridden?.effectiveValue, "b")
      assert.include(overridden?.message, "model")
    }),
  )
})
