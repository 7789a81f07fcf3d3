import { type ConfigKey, keysOf } from "@colloquy/config/ConfigKeys"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { offlineProvider, openaiProvider } from "@colloquy/models/Providers"
import { type ConfigEdit, ConfigPort } from "@colloquy/server/thread/host/ports/ConfigPort"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SchemaAST from "effect/SchemaAST"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { allKeys } from "../../src/config/AllKeys.ts"
import * as ConfigLayers from "../../src/config/ConfigLayers.ts"
import * as LiveSettings from "../../src/config/LiveSettings.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-writes-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

/** A file with one table of each kind that the author names. */
const valid = `model_provider = "n"
[model_providers.n]
name = "N"
base_url = "http://n.example"
[mcp_servers.n]
command = "n"
[profiles.n]
model = "m"
`

const stage = (text: string, args: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const path = join(directory, "config.toml")
    Fs.writeFileSync(path, text)
    const overrides = Result.getOrThrow(ConfigTree.parseOverrides(args))
    const source = {
      builtinProviders: [openaiProvider(), offlineProvider],
      defaultProvider: "openai",
      cwd: directory,
    }
    const live = LiveSettings.make({ stateDirectory: directory, overrides, source: () => source })
    const layer = ConfigLayers.layer(directory, live, { overrides, source })
    const config = yield* Effect.provide(ConfigPort, layer)
    const read = () => Fs.readFileSync(path, "utf8")
    const writeAll = (...edits: ReadonlyArray<readonly [string, unknown]>) =>
      config.write({ edits: edits.map(([keyPath, value]) => editOf(keyPath, value)) })
    const write = (keyPath: string, value: unknown) => writeAll([keyPath, value])
    /** Expects that the write is refused as not valid and changes nothing; the message. */
    const refused = Effect.fnUntraced(function* (keyPath: string, value: unknown) {
      const before = read()
      const error = yield* Effect.result(write(keyPath, value))
      if (Result.isSuccess(error)) {
        return assert.fail(`${keyPath} = ${JSON.stringify(value)} was written`)
      }
      assert.strictEqual(error.failure.reason, "invalid", keyPath)
      assert.strictEqual(read(), before, keyPath)
      return error.failure.message
    })
    return { config, directory, read, refused, write, writeAll }
  })

const editOf = (keyPath: string, value: unknown): ConfigEdit => ({
  keyPath,
  value,
  mergeStrategy: "replace",
})

/** A value that the type of the key excludes. */
const wrongFor = ({ ast }: ConfigKey): unknown => (SchemaAST.isNumber(ast) ? "x" : 5)

describe("writes of the configuration", () => {
  it.live("a value of a wrong type is refused by name for every key of the reference", () =>
    Effect.gen(function* () {
      const { refused } = yield* stage(valid)
      const keys = keysOf(allKeys())
      for (const key of keys) {
        const path = key.path.replaceAll("<name>", "n")
        const message = yield* refused(path, wrongFor(key))
        assert.include(message, `in \`${path}\``)
        assert.match(message, /^Invalid configuration: invalid .*expected /)
      }
      for (const table of ["http", "cluster", "telemetry", "login", "offline"]) {
        assert.isTrue(
          keys.some(({ path }) => path.startsWith(`${table}.`)),
          table,
        )
      }
    }),
  )

  const faults: ReadonlyArray<readonly [keyPath: string, value: unknown, ...RegExp[]]> = [
    ["max_line_bytes", 5, /expected an integer from 1024 to 536870888\nin `max_line_bytes`/],
    [
      "shutdown_grace_ms",
      -1,
      /expected an integer from 0 to 86400000 \(24 hours\)\nin `shutdown_grace_ms`/,
    ],
    ["conversation_store", "nope", /expected `files`, .*\nin `conversation_store`/],
    [
      "conversation_store",
      "postgres://host/database",
      /, with a user, .*\nin `conversation_store`/,
    ],
    ["conversation_idle_ms", 1.5, /in `conversation_idle_ms`/],
    ["http.authentication", "x", /expected one of `token`, .*\nin `http.authentication`/],
    ["http.public_url", "ftp://x", /`http.public_url`: expected an `https` address/],
    ["http.oauth_issuer", "https://x", /`http.oauth_issuer` and `http.oauth_resource` need each/],
    ["telemetry.signals", ["zz"], /expected one of `traces`, .*\nin `telemetry.signals.0`/],
    ["telemetry.otlp_endpont", "http://x", /did you mean `otlp_endpoint`/],
    ["cluster.listen", "x", /expected `HOST:PORT`\nin `cluster.listen`/],
    ["cluster.listen", "127.0.0.1:0", /no effect without `cluster.database`\nin `cluster.listen`/],
    ["login.isuer", "https://x", /did you mean `issuer`/],
    ["offline.script", "/nope.json", /\/nope\.json: .*ENOENT.*\nin `offline.script`/],
    ["experimental_instructions_file", "/nope.md", /\/nope\.md: .*ENOENT/],
    ["mcp_servers.q", {}, /`mcp_servers.q`: expected either `command` or `url`/],
    ["mcp_servers.q", { command: "a", url: "b" }, /`mcp_servers.q`: expected either/],
    ['mcp_servers."x y"', { command: "x" }, /`mcp_servers.x y`: expected a name of letters/],
    ["profile", "nope", /config profile `nope` not found\nin `profile`/],
    ["model_provider", "nope", /Model provider `nope` not found\nin `model_provider`/],
    ["model_providers.n", null, /Model provider `n` not found\nin `model_provider`/],
    ["model_providers.n.base_url", null, /missing field `base_url`, .*\nin `model_providers.n`/],
    ["model_providers.n.bas_url", "x", /did you mean `base_url`/],
    ["model_provder", "n", /did you mean `model_provider`/],
    ["profiles.n.model_provider", "nope", /`nope` not found\nin `profiles.n.model_provider`/],
    ["profiles.z", { model_provider: "nope" }, /`nope` not found\nin `profiles.z.model_provider`/],
    ["profiles.n.experimental_instructions_file", "/nope.md", /`profiles\.n\.|ENOENT/],
    ['"\\q"', "x", /keyPath/],
  ]
  for (const [keyPath, value, expected] of faults) {
    it.live(`refuses ${keyPath} = ${JSON.stringify(value)}, and says what is expected`, () =>
      Effect.gen(function* () {
        const { refused } = yield* stage(valid)
        assert.match(yield* refused(keyPath, value), expected ?? /./)
      }),
    )
  }

  it.live("refuses a store that the cluster excludes, and writes both keys together", () =>
    Effect.gen(function* () {
      const { refused, write, writeAll } = yield* stage(valid)
      yield* write("cluster.database", "postgres://u:p@h/d")
      assert.include(yield* refused("conversation_store", "memory"), "`conversation_store` names")
      yield* writeAll(
        ["http.oauth_issuer", "https://issuer.example"],
        ["http.oauth_resource", "https://server.example/mcp"],
      )
    }),
  )

  it.live("a file with faults is repaired key by key, in any order, and gets no further one", () =>
    Effect.gen(function* () {
      const faulty = `model_provider = "gone"
model = 5
max_line_bytes = 5
unattended = "zz"
approval_policy = { granular = {} }
[mcp_servers.q]
[profiles.p]
model_provider = "gone"
[telemetry]
signals = ["zz"]
`
      const repairs: ReadonlyArray<readonly [string, unknown]> = [
        ["approval_policy.granular.rules", true],
        ["approval_policy.granular.mcp_elicitations", true],
        ["approval_policy.granular.sandbox_approval", true],
        ["model", null],
        ["mcp_servers.q.command", "q"],
        ["unattended", "park"],
        ["telemetry.signals", null],
        ["profiles.p.model_provider", "openai"],
        ["max_line_bytes", 4096],
        ["model_provider", "openai"],
      ]
      for (const order of [repairs, repairs.toReversed()]) {
        const { refused, write } = yield* stage(faulty)
        for (const [keyPath, value] of order) {
          assert.include(yield* refused("shutdown_grace_ms", -1), "`shutdown_grace_ms`")
          assert.include(yield* refused("mcp_servers.r", {}), "`mcp_servers.r`")
          yield* write("review_model", keyPath)
          yield* write(keyPath, value)
        }
        assert.include(yield* refused("model_provider", "gone"), "`gone` not found")
        assert.include(yield* refused("max_line_bytes", 5), "`max_line_bytes`")
      }
    }),
  )

  it.live("a key that is wrong is not replaced by another wrong value", () =>
    Effect.gen(function* () {
      const { refused } = yield* stage("model = 5\n")
      assert.include(yield* refused("model", true), "boolean `true`")
    }),
  )

  it.live("the command line neither hides a fault of the file nor lacks in what it refers to", () =>
    Effect.gen(function* () {
      const hidden = yield* stage(valid, ['model_provider="offline"', "max_line_bytes=4096"])
      assert.include(yield* hidden.refused("model_provider", "nope"), "`nope` not found")
      assert.include(yield* hidden.refused("max_line_bytes", 5), "`max_line_bytes`")
      const table = '{ name = "X", base_url = "http://x" }'
      const given = yield* stage(valid, [`model_providers.x=${table}`])
      yield* given.write("model_provider", "x")
      const used = yield* stage(valid, ['profile="n"'])
      assert.include(yield* used.refused("profiles.n", null), "`n` not found\nin `profile`")
    }),
  )

  it.live("names with dots and files without faults are written", () =>
    Effect.gen(function* () {
      const { directory, read, write, writeAll } = yield* stage(valid)
      yield* writeAll(
        ['model_providers."a.b"', { name: "A", base_url: "http://a" }],
        ["model_provider", "a.b"],
        ["model_providers.n", null],
      )
      Fs.writeFileSync(join(directory, "rules.md"), "Be brief.")
      yield* write("experimental_instructions_file", "rules.md")
      yield* write("unknown_key", { of: "another program" })
      assert.include(read(), 'model_provider = "a.b"')
    }),
  )

  it.live("a key below a value that is no table is refused with the name of that value", () =>
    Effect.gen(function* () {
      const { refused } = yield* stage('model = "a"\nnotify = ["x"]\n')
      const ofModel = yield* refused("model.x", 1)
      assert.strictEqual(ofModel, "invalid type: string, expected a map\nin `model`")
      assert.include(yield* refused("model.x.y", 1), "in `model`")
      assert.include(yield* refused("notify.x", 1), "invalid type: sequence, expected a map")
    }),
  )

  it.live("shows names of secret tables, and redacts each of their values", () =>
    Effect.gen(function* () {
      const { config } = yield* stage(
        `${valid}[shell_environment_policy.set]\nenv_key = "s3cret"\nB = { C = "s3cret" }\n`,
      )
      const view = yield* config.read
      assert.deepStrictEqual(view.config["shell_environment_policy"], {
        set: { env_key: "<redacted>", B: { C: "<redacted>" } },
      })
      assert.notInclude(JSON.stringify(view), "s3cret")
      const faulty = yield* stage(
        '[shell_environment_policy]\nset = "s3cret"\n[mcp_servers.s]\nenv = ["s3cret"]\n',
      )
      assert.notInclude(JSON.stringify(yield* faulty.config.read), "s3cret")
    }),
  )
})
