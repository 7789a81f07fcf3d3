/**
 * Attempts to read secrets of the server's environment from a command. Each is tried once more with the protection removed,
 * which here is `ignore_default_excludes`.
 */
import type { ShellEnvironment } from "@colloquy/core/ConversationSettings"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as OneOffCommand from "../../src/machine/OneOffCommand.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { calls } from "../support/Machine.ts"
import { perform } from "../support/Stage.ts"

const environment = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  DATABASE_URL: "postgres://me:s3cret@db/app",
  PGPASSWORD: "s3cret",
  GITLAB_PAT: "s3cret",
  SSH_AUTH_SOCK: "/run/s3cret",
  UPSTREAM: "https://me:s3cret@example.org",
  NODE_ENV: "test",
}

const unguarded: ShellEnvironment = {
  inherit: "all",
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
}

const machine = runnerLayer.pipe(
  Layer.merge(
    SandboxLayer.layer({
      machine: { platform: process.platform, processor: process.arch },
      environment,
      hiddenPaths: [],
    }),
  ),
  Layer.provideMerge(TrustedPrograms.layer({ environment })),
  Layer.provide(NodeServices.layer),
)

type Mode = "danger-full-access" | "read-only"
type Attack = (argv: ReadonlyArray<string>, isGuarded: boolean, mode: Mode) => Effect.Effect<string>

const inShell: Attack = (argv, isGuarded, mode) =>
  Effect.scoped(
    Effect.map(
      perform(
        { environment },
        {
          settings: {
            approvalPolicy: "never",
            sandboxPolicy: { mode },
            ...(isGuarded ? {} : { shellEnvironment: unguarded }),
          },
          responses: [[calls("shell", { command: argv }, "a")]],
        },
      ),
      ({ outputs }) => outputs.join(),
    ),
  )

const asOneOff: Attack = ([program = "", ...args], isGuarded, mode) =>
  Effect.gen(function* () {
    const parts = {
      runner: yield* CommandRunner,
      sandbox: yield* Sandbox,
      environment,
      secretNames: [],
    }
    const settings = scriptedSettings({
      cwd: Os.tmpdir(),
      sandboxPolicy: { mode },
      ...(isGuarded ? {} : { shellEnvironment: unguarded }),
    })
    const argv = [program, ...args] as const
    return (yield* OneOffCommand.run(parts, { argv, timeout: Duration.seconds(10), settings }))
      .stdout
  }).pipe(Effect.orDie, Effect.provide(machine))

describe("secrets of the environment", () => {
  for (const [name, attack] of Object.entries({ shell: inShell, "a one-off command": asOneOff })) {
    for (const mode of ["danger-full-access", "read-only"] as const) {
      const skip = mode === "read-only" && !hasBubblewrap
      it.live.skipIf(skip)(`L15 ${name} does not inherit them, ${mode}`, () =>
        Effect.gen(function* () {
          for (const argv of [["env"], ["bash", "-c", "cat /proc/self/environ /proc/$$/environ"]]) {
            const text = yield* attack(argv, true, mode)
            assert.include(text, "NODE_ENV=test")
            assert.notInclude(text, "s3cret")
          }
        }),
      )
      it.live.skipIf(skip)(`without the protection ${name} inherits them, ${mode}`, () =>
        Effect.gen(function* () {
          const text = yield* attack(["env"], false, mode)
          for (const variable of ["DATABASE_URL", "PGPASSWORD", "GITLAB_PAT", "UPSTREAM"]) {
            assert.match(text, new RegExp(`${variable}=\\S*s3cret`))
          }
        }),
      )
    }
  }

  it.live(
    "a login shell sets again what the user's profile exports: the profile is not hidden",
    () =>
      Effect.gen(function* () {
        const home = yield* Effect.acquireRelease(
          Effect.sync(() => Fs.mkdtempSync(`${Os.tmpdir()}/profile-`)),
          (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true })),
        )
        Fs.writeFileSync(`${home}/.profile`, "export PGPASSWORD=from-profile\n")
        const { outputs } = yield* perform(
          { environment: { ...environment, HOME: home } },
          {
            settings: {
              approvalPolicy: "never",
              sandboxPolicy: { mode: "danger-full-access" },
            },
            responses: [
              [
                calls("shell", { command: ["bash", "-c", "echo [$PGPASSWORD]"] }, "a"),
                calls("shell", { command: ["bash", "-lc", "echo [$PGPASSWORD]"] }, "b"),
              ],
            ],
          },
        )
        assert.include(outputs[0], "[]")
        assert.include(outputs[1], "[from-profile]")
      }),
  )
})
