import * as ConfigTree from "@colloquy/config/ConfigTree"
import { ConfigCheckPort } from "@colloquy/server/thread/host/ports/ConfigCheckPort"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ConfigCheck from "../../src/config/ConfigCheck.ts"
import * as LiveSettings from "../../src/config/LiveSettings.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-check-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

const warningOf = (text: string, args: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const path = join(directory, "config.toml")
    Fs.writeFileSync(path, text)
    const overrides = Result.getOrThrow(ConfigTree.parseOverrides(args))
    const live = LiveSettings.make({
      stateDirectory: directory,
      overrides,
      source: () => ({ builtinProviders: [], defaultProvider: "openai", cwd: directory }),
    })
    const check = yield* Effect.provide(ConfigCheckPort, ConfigCheck.layer(live, overrides))
    return { path, warning: yield* check.warning }
  })

describe("ConfigCheck", () => {
  it.live("warns of keys without effect, each with its line, and of none otherwise", () =>
    Effect.gen(function* () {
      const { path, warning } = yield* warningOf('modle = "a"\n', ["sandbox_mod=read-only"])
      assert.strictEqual(
        warning,
        [
          "The configuration has keys without effect:",
          `  ${path}:1: \`modle\`: unknown key, ignored; did you mean \`model\`?`,
          "  -c sandbox_mod: unknown key, ignored; did you mean `sandbox_mode`?",
        ].join("\n"),
      )
      assert.isUndefined((yield* warningOf('model = "a"\n')).warning)
    }),
  )
})
