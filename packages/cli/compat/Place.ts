/**
 * What a client finds on the machine of its user: a home directory with the configuration of the server, a workspace, its
 * own program on the `PATH`, and, where it honours the variables for that, no network but loopback.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { vi } from "vitest"
import { home as temporaryDirectory } from "../test/support/Home.ts"
import { runningIn } from "../test/support/Processes.ts"
import { folderOf } from "./Driver.ts"
import type { ClientName } from "./Pins.ts"
import { type Finished, run } from "./Program.ts"
import { programOf } from "./Programs.ts"
import { keyVariable } from "./Recorder.ts"

export interface Place {
  /** Every process that the client starts has it as `HOME`. */
  readonly home: string
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
}

/** The offline model is requested by name. Commands run without a sandbox: what is checked is which of them run. */
const config = `model_provider = "offline"
model = "offline"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"
`

/** A port on which no program listens. */
const noProxy = "http://127.0.0.1:9"
const noNetwork = {
  HTTP_PROXY: noProxy,
  HTTPS_PROXY: noProxy,
  http_proxy: noProxy,
  https_proxy: noProxy,
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
}

const putProgram = (client: ClientName, folder: string): void => {
  const program = programOf(client, folderOf(client))
  if (program === undefined) return
  const path = join(folder, program.command)
  const words = program.words.map((word) => `'${word}'`)
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`)
  chmodSync(path, 0o755)
}

const killAll = (pids: ReadonlyArray<number>): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL")
    } catch (error) {
      // It exited by itself after it was found.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
}

/** A place for that client. What still runs there at the end of the scope is killed. */
export const place = (
  client: ClientName,
  variables: Readonly<Record<string, string>> = {},
): Effect.Effect<Place, never, Scope.Scope> =>
  Effect.gen(function* () {
    // Questions name real paths.
    const home = realpathSync(yield* temporaryDirectory())
    const [bin, state, workspace] = [
      join(home, "bin"),
      join(home, ".colloquy"),
      join(home, "work"),
    ] as const
    for (const folder of [bin, state, workspace]) mkdirSync(folder)
    writeFileSync(join(state, "config.toml"), config)
    putProgram(client, bin)
    yield* Effect.addFinalizer(() => Effect.sync(() => killAll(runningIn(home))))
    const path = [bin, process.env["PATH"] ?? ""].join(delimiter)
    const own = { PATH: path, HOME: home, TMPDIR: home, [keyVariable]: "none" }
    const env = { ...own, ...noNetwork, ...variables }
    return { home, workspace, env }
  })

/** For clients that are libraries: this process has the environment of the place until the end of the scope. */
export const enter = ({ env }: Place): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    }),
    () => Effect.sync(() => vi.unstubAllEnvs()),
  )

const maxRunMs = 60_000

/** Runs a line of a shell there, as a user would. */
export const shell = (line: string, { env, workspace }: Place): Effect.Effect<Finished> =>
  Effect.promise(() =>
    run({ command: "/bin/sh", args: ["-c", line], cwd: workspace, env }, maxRunMs),
  )

/** The processes that are left there after a few seconds in which they may end. */
export const leftIn = ({ home }: Place): Effect.Effect<ReadonlyArray<number>> =>
  Effect.promise(async () => {
    for (let tries = 0; tries < 60 && runningIn(home).length > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return runningIn(home)
  })
