/** A workspace with the directories around it, and commands that run in the sandbox or, for control, without it. */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import { assert } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { Launch } from "../../src/process/Command.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { type ConfiningPolicy, Sandbox } from "../../src/sandbox/Sandbox.ts"
import { namedSetpriv } from "../support/Setpriv.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"

/** Absolute paths of the directories and files of one test. */
export interface TestDirectories {
  /** Contains the others. Not writable in the sandbox, except for the writable roots below it. */
  readonly base: string
  readonly workspace: string
  readonly outside: string
  readonly state: string
  readonly secretFile: string
}

export const workspaceWrite = {
  mode: "workspace-write",
  exclude_slash_tmp: true,
  exclude_tmpdir_env_var: true,
} satisfies SandboxPolicy

const path = "/usr/local/bin:/usr/bin:/bin"

/**
 * Creates the directories, which are removed with the scope.
 *
 * @param state path of the state directory below the base; it may lie in the workspace
 */
export const makeDirectories = Effect.fnUntraced(function* (state = "state") {
  const fs = yield* FileSystem.FileSystem
  const base = yield* fs.realPath(
    yield* fs.makeTempDirectoryScoped({ prefix: "colloquy-sandbox-" }),
  )
  const made: TestDirectories = {
    base,
    workspace: `${base}/workspace`,
    outside: `${base}/outside`,
    state: `${base}/${state}`,
    secretFile: `${base}/keys.json`,
  }
  for (const directory of [made.workspace, made.outside, made.state]) {
    yield* fs.makeDirectory(directory, { recursive: true })
  }
  yield* fs.writeFileString(`${made.outside}/file`, "outside\n")
  yield* fs.writeFileString(`${made.state}/auth.json`, "sk-secret\n")
  yield* fs.writeFileString(made.secretFile, "sk-secret\n")
  return made
})

const layerOf = (made: TestDirectories, setpriv: string | undefined) =>
  Layer.merge(
    runnerLayer,
    SandboxLayer.layer({
      environment: { PATH: path, COLLOQUY_SETPRIV: setpriv ?? namedSetpriv },
      hiddenPaths: [made.state, made.secretFile],
      machine: { platform: "linux", processor: process.arch },
    }),
  ).pipe(
    Layer.provide(TrustedPrograms.layer({ environment: { PATH: path } })),
    Layer.provide(NodeServices.layer),
  )

/** One command to run, with its environment and policy. Default policy: `workspaceWrite`. */
export interface Attempt {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly env?: Readonly<Record<string, string>>
  readonly policy?: ConfiningPolicy
  readonly cwd?: string
  /** The setpriv to use for this attempt; one that does not exist leaves Landlock out. */
  readonly setpriv?: string
}

const limits = {
  timeout: Duration.seconds(20),
  killGrace: Duration.millis(200),
  onOutput: () => Effect.void,
}

const unconfined = (made: TestDirectories, attempt: Attempt) => ({
  argv: attempt.argv,
  cwd: attempt.cwd ?? made.workspace,
  env: {
    PATH: `${path}:/usr/sbin:/sbin`,
    HOME: made.base,
    W: made.workspace,
    OUT: made.outside,
    STATE: made.state,
    KEYS: made.secretFile,
    ...attempt.env,
  },
})

/** Options of bubblewrap are given in this descriptor, each ended by a NUL character. */
const optionsFd = 5

/** The launch without the mounts of these directories onto themselves. */
const withoutBinds = (launch: Launch, directories: ReadonlyArray<string>): Launch => {
  const words = new TextDecoder().decode(launch.inputs.get(optionsFd)).split("\0")
  for (const directory of directories) {
    const at = words.findIndex((word, index) => word === "--bind" && words[index + 1] === directory)
    assert.isAtLeast(at, 0, `${directory} is pinned`)
    words.splice(at, 3)
  }
  const options = new TextEncoder().encode(words.join("\0"))
  return { ...launch, inputs: new Map([...launch.inputs, [optionsFd, options]]) }
}

/** Like `runConfined`, in a sandbox that leaves out the mounts of these directories onto themselves. */
export const runConfinedWithoutPins =
  (directories: ReadonlyArray<string>) => (made: TestDirectories, attempt: Attempt) =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const runner = yield* CommandRunner
      const launch = yield* sandbox.confine(
        unconfined(made, attempt),
        attempt.policy ?? workspaceWrite,
        made.workspace,
      )
      return yield* runner.run(withoutBinds(launch, directories), limits)
    }).pipe(Effect.scoped, Effect.provide(layerOf(made, attempt.setpriv)))

/** Runs the command in the sandbox; resolves with its output and how it ended. */
export const runConfined = runConfinedWithoutPins([])

/** The status that the sandbox of the tests reports. */
export const sandboxStatus = (made: TestDirectories) =>
  Effect.flatMap(Sandbox, ({ status }) => status).pipe(Effect.provide(layerOf(made, undefined)))

/** The launch of the command in the sandbox, which the caller may change and run. */
export const confinedLaunch = (made: TestDirectories, attempt: Attempt) =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    return yield* sandbox.confine(
      unconfined(made, attempt),
      attempt.policy ?? workspaceWrite,
      made.workspace,
    )
  }).pipe(Effect.provide(layerOf(made, attempt.setpriv)))

/** Runs the command without the sandbox; resolves with its output and how it ended. */
export const runUnconfined = (made: TestDirectories, attempt: Attempt) =>
  Effect.gen(function* () {
    const runner = yield* CommandRunner
    const command = unconfined(made, attempt)
    return yield* runner.run({ ...command, inputs: new Map(), diesWithParent: false }, limits)
  }).pipe(Effect.provide(layerOf(made, undefined)))
