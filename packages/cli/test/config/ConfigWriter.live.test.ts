import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { edited, write } from "../../src/config/ConfigWriter.ts"

const text = `# Mine.
model = "gpt-5" # why not

[profiles.fast] # quick
approval_policy = "never"
model = "small"

[[unknown]]
list = [
  1, # one
  2,
]
`

const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-writer-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

describe("ConfigWriter", () => {
  it("changes one value and keeps every comment", () => {
    assert.deepStrictEqual(
      edited(text, [{ path: ["model"], value: "o3" }]),
      Result.succeed(text.replace('"gpt-5"', '"o3"')),
    )
    assert.deepStrictEqual(
      edited(text, [{ path: ["profiles", "fast", "model"], value: "o3" }]),
      Result.succeed(text.replace('"small"', '"o3"')),
    )
  })

  it("adds a key and a missing table, and removes a key", () => {
    const added = Result.getOrThrow(
      edited(text, [
        { path: ["model_reasoning_effort"], value: "high" },
        { path: ["profiles", "slow", "model"], value: "big" },
        { path: ["profiles", "fast", "model"], value: undefined },
        { path: ["profiles", "none", "model"], value: undefined },
      ]),
    )
    assert.include(added, "# Mine.\n")
    assert.include(added, 'model_reasoning_effort = "high"\n')
    assert.include(added, '["profiles"."slow"]\nmodel = "big"\n')
    assert.notInclude(added, '"small"')
    assert.notInclude(added, "none")
  })

  it("adds a table inside of an inline table", () => {
    for (const inline of [
      'mcp_servers = { s = { command = "x" } } # mine\n',
      '[mcp_servers]\ns = { command = "x" } # mine\n',
    ]) {
      const path = ["mcp_servers", "s", "env", "K"]
      const next = Result.getOrThrow(edited(inline, [{ path, value: "v" }]))
      assert.match(next, /s = \{ command = "x", env = \{ K = "v" \} \}.* # mine\n/)
    }
  })

  it("leaves a text that is not TOML unchanged, and does not quote it", () => {
    const outcome = edited("key = sk-secret", [{ path: ["model"], value: "o3" }])
    assert.isTrue(Result.isFailure(outcome))
    assert.notInclude(JSON.stringify(outcome), "sk-secret")
  })

  it.live("creates the file with its directory, keeps its mode, writes through a link", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const state = join(root, "new")
      yield* write(state, [{ path: ["model"], value: "one" }])
      const path = join(state, "config.toml")
      assert.strictEqual(Fs.readFileSync(path, "utf8"), 'model = "one"\n')
      assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
      Fs.renameSync(path, join(root, "real.toml"))
      Fs.chmodSync(join(root, "real.toml"), 0o640)
      Fs.symlinkSync(join(root, "real.toml"), path)
      yield* write(state, [{ path: ["model"], value: "two" }])
      assert.isTrue(Fs.lstatSync(path).isSymbolicLink())
      assert.strictEqual(Fs.readFileSync(join(root, "real.toml"), "utf8"), 'model = "two"\n')
      assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o640)
      assert.deepStrictEqual(Fs.readdirSync(state), ["config.toml"])
      assert.deepStrictEqual(Fs.readdirSync(root).toSorted(), ["new", "real.toml"])
    }).pipe(Effect.scoped),
  )

  it.live("a state directory that is a file is a typed error that names it", () =>
    Effect.gen(function* () {
      const root = yield* directory
      const state = join(root, "file")
      Fs.writeFileSync(state, "")
      const error = yield* Effect.flip(write(state, [{ path: ["model"], value: "x" }]))
      assert.match(error.message, /file\/config\.toml: cannot be (read|written) \(ENOTDIR\)$/)
    }).pipe(Effect.scoped),
  )
})
