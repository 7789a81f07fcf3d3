import * as ConfigTree from "@colloquy/config/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as LiveSettings from "../../src/config/LiveSettings.ts"
import { openai } from "./Providers.ts"

const setting = (args: ReadonlyArray<string> = []) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-settings-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, maxRetries: 10 })),
    ),
    (directory) => ({
      path: join(directory, "config.toml"),
      directory,
      live: LiveSettings.make({
        stateDirectory: directory,
        overrides: Result.getOrThrow(ConfigTree.parseOverrides(args)),
        source: () => ({ builtinProviders: [openai], defaultProvider: "openai", cwd: directory }),
      }),
    }),
  )

describe("LiveSettings", () => {
  it.live("an edited file applies to the next conversation, an invalid one fails it", () =>
    Effect.gen(function* () {
      const { live, path } = yield* setting()
      const model = Effect.map(live.resolve({}), (settings) => settings.model)
      assert.strictEqual(yield* model, "gpt-5")
      writeFileSync(path, 'model = "one"\n')
      assert.strictEqual(yield* model, "one")
      writeFileSync(path, 'model = "one"\nsandbox_mode = "none"\n')
      const error = yield* Effect.flip(model)
      assert.deepStrictEqual(
        { key: error.key, message: error.message },
        {
          key: "sandbox_mode",
          message: `${path}:2: unknown variant \`none\`, expected one of \`read-only\`, \`workspace-write\`, \`danger-full-access\`, \`external-sandbox\`\nin \`sandbox_mode\`\n`,
        },
      )
      writeFileSync(path, 'model = "two"\n')
      assert.strictEqual(yield* model, "two")
      rmSync(path)
      assert.strictEqual(yield* model, "gpt-5")
    }).pipe(Effect.scoped),
  )

  it.live("a value that an argument or a client set is not read from the file", () =>
    Effect.gen(function* () {
      const { live, path } = yield* setting(["sandbox_mode=none"])
      writeFileSync(path, 'sandbox_mode = "read-only"\nmodel_verbosity = "low"\n')
      const starts = (overrides: Parameters<typeof live.resolve>[0]) =>
        Effect.map(Effect.flip(live.resolve(overrides)), ({ message }) => message.split("`")[0])
      assert.strictEqual(yield* starts({}), "unknown variant ")
      const other = yield* setting()
      writeFileSync(other.path, 'model_verbosity = "low"\n')
      const error = yield* Effect.flip(other.live.resolve({ config: { model_verbosity: "loud" } }))
      assert.match(error.message, /^unknown variant `loud`/)
      writeFileSync(other.path, 'model = "m"\nprofile = "p"\n[profiles.p]\n')
      for (const name of ["model", "profile"]) {
        const { key, message } = yield* Effect.flip(other.live.resolve({ [name]: " " }))
        assert.strictEqual(key, name)
        assert.match(message, /^invalid value: string, /)
      }
      writeFileSync(other.path, 'model = ""\n')
      const { message } = yield* Effect.flip(other.live.resolve({ model: "m" }))
      assert.include(message, `${other.path}:1: `)
    }).pipe(Effect.scoped),
  )

  it.live("an unknown key of a client is ignored with a warning", () =>
    Effect.gen(function* () {
      const { live } = yield* setting()
      const logged: Array<unknown> = []
      const log = Logger.make(({ message }) => logged.push(message))
      yield* live
        .resolve({ config: { model: "m", aproval_policy: "never" } })
        .pipe(Effect.provide(Logger.layer([log])))
      assert.deepStrictEqual(logged.flat(), [
        "conversation config: `aproval_policy`: unknown key, ignored; did you mean `approval_policy`?",
      ])
    }).pipe(Effect.scoped),
  )

  for (const [name, make, problem] of [
    ["a directory", (path: string) => mkdirSync(path), "cannot be read (EISDIR)"],
    [
      "not UTF-8",
      (path: string) => writeFileSync(path, Buffer.from([0x61, 0x20, 0xff, 0xfe])),
      "is not UTF-8",
    ],
    [
      "of 10 MB",
      (path: string) => writeFileSync(path, "#".repeat(10_000_000)),
      "has 10000000 bytes, expected at most 1048576",
    ],
  ] as const) {
    it.live(`a config.toml that is ${name} is a typed error that names it`, () =>
      Effect.gen(function* () {
        const { live, path } = yield* setting()
        make(path)
        const error = yield* Effect.flip(live.resolve({}))
        assert.strictEqual(error.message, `${path}: ${problem}`)
      }).pipe(Effect.scoped),
    )
  }

  it.live("experimental_instructions_file replaces the instructions, and must not be empty", () =>
    Effect.gen(function* () {
      const { directory, live, path } = yield* setting()
      writeFileSync(path, 'experimental_instructions_file = "me.md"\n')
      const missing = yield* Effect.flip(live.resolve({}))
      assert.strictEqual(
        missing.message,
        `${join(directory, "me.md")}: cannot be read (ENOENT)\nin \`experimental_instructions_file\`\n`,
      )
      writeFileSync(join(directory, "me.md"), "  \n")
      assert.match((yield* Effect.flip(live.resolve({}))).message, /: is empty\n/)
      writeFileSync(join(directory, "me.md"), "Be brief.\n")
      const settings = yield* live.resolve({})
      assert.strictEqual(settings.baseInstructions, "Be brief.")
      assert.notProperty(settings, "baseInstructionsFile")
      const asked = yield* live.resolve({ baseInstructions: "Be long." })
      assert.strictEqual(asked.baseInstructions, "Be long.")
    }).pipe(Effect.scoped),
  )
})
