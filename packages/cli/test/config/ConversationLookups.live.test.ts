/** Counts what the settings of a new conversation cost this process: calls of the file system, and processes. */
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as ProjectDocs from "@colloquy/tools/project/ProjectDocs"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Fs from "node:fs"
import { observeCalls } from "../../../tools/test/support/FileCalls.ts"
import { openai } from "./Providers.ts"

/** A state directory with settings, and a repository with instructions and a directory four levels below it. */
const machine = Effect.gen(function* () {
  const base = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync("/tmp/colloquy-settings-"))),
    (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true, maxRetries: 10 })),
  )
  const cwd = `${base}/repository/a/b/c/d`
  for (const place of [cwd, `${base}/repository/.git`, `${base}/state/sessions`]) {
    Fs.mkdirSync(place, { recursive: true })
  }
  Fs.writeFileSync(`${base}/repository/.git/HEAD`, "ref: refs/heads/main\n")
  Fs.writeFileSync(`${base}/repository/AGENTS.md`, "instructions")
  Fs.symlinkSync("../../AGENTS.md", `${base}/repository/a/b/AGENTS.md`)
  Fs.writeFileSync(`${base}/state/config.toml`, 'model = "one"\n')
  // The files are older than the resolution of their times.
  yield* TestClock.setTime(Math.ceil(Fs.statSync(`${base}/state/config.toml`).ctimeMs) + 10_000)
  return { state: `${base}/state`, cwd }
})

/** Expected numbers for the second conversation and later ones; the link to instructions costs the call that waits. */
const limits = { waiting: 1, immediate: 47, processes: 0 } as const

describe.skipIf(process.platform !== "linux")("the settings of a new conversation", () => {
  it.effect("read no file again, and wait only for the target of a link", () =>
    Effect.gen(function* () {
      const { cwd, state } = yield* machine
      const counts = yield* observeCalls
      // Imported now, because its modules take the functions of Node when they are loaded.
      const LiveSettings = yield* Effect.promise(() => import("../../src/config/LiveSettings.ts"))
      const live = LiveSettings.make({
        stateDirectory: state,
        overrides: [],
        source: () => ({ builtinProviders: [openai], defaultProvider: "openai", cwd }),
      })
      const services = Layer.merge(
        Layer.provide(
          ProjectDocs.layer({ stateDirectory: state, hiddenPaths: [state] }),
          LiveSettings.layer(live),
        ),
        TrustedPrograms.layer({ environment: { PATH: "/usr/bin:/bin" } }),
      )
      yield* Effect.gen(function* () {
        const { resolve } = yield* SettingsResolver
        const { remember } = yield* TrustedPrograms
        for (let conversation = 0; conversation < 4; conversation++) {
          counts.reset()
          const settings = yield* resolve({})
          assert.strictEqual(settings.model, "one")
          assert.strictEqual(settings.userInstructions, "instructions\n\ninstructions")
          yield* remember(settings.sandboxPolicy, settings.cwd)
          if (conversation === 0) continue
          assert.strictEqual(counts.processes, limits.processes)
          assert.isAtMost(counts.waiting, limits.waiting)
          assert.isAtMost(counts.immediate, limits.immediate * 1.1)
          // The wrappers do see calls.
          assert.isAtLeast(counts.immediate, 5)
        }
      }).pipe(Effect.provide(Layer.provideMerge(services, NodeServices.layer)))
    }).pipe(Effect.scoped),
  )
})
