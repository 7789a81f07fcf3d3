/**
 * The machine of a client's user: a home directory with the server's configuration, a workspace, the client's program
 * on the `PATH`, and, if the client honours the proxy variables, no network except loopback.
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
  /** Home directory. Every process that the client starts has it as `HOME`. */
  readonly home: string
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
}

/** Requests the offline model by name. Commands run without a sandbox: the checks only test which of them run. */
export const serverConfig = `model_provider = "offline"
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
      // The process exited by itself after it was listed.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
}

/** Creates a place for this client. Processes that still run there when the scope closes are killed. */
export const place = (
  client: ClientName,
  variables: Readonly<Record<string, string>> = {},
): Effect.Effect<Place, never, Scope.Scope> =>
  Effect.gen(function* () {
    // Questions contain real paths, without symbolic links.
    const home = realpathSync(yield* temporaryDirectory())
    const [bin, state, workspace] = [
      join(home, "bin"),
      join(home, ".colloquy"),
      join(home, "work"),
    ] as const
    for (const folder of [bin, state, workspace]) mkdirSync(folder)
    writeFileSync(join(state, "config.toml"), serverConfig)
    putProgram(client, bin)
    yield* Effect.addFinalizer(() => Effect.sync(() => killAll(runningIn(home))))
    const path = [bin, process.env["PATH"] ?? ""].join(delimiter)
    const own = { PATH: path, HOME: home, TMPDIR: home, [keyVariable]: "none" }
    const env = { ...own, ...noNetwork, ...variables }
    return { home, workspace, env }
  })

/** For clients that are libraries: gives this process the environment of the place until the scope closes. */
export const enter = ({ env }: Place): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    }),
    () => Effect.sync(() => vi.unstubAllEnvs()),
  )

const maxRunMs = 60_000

/** Runs a shell line in the workspace, as a user would. */
export const shell = (line: string, { env, workspace }: Place): Effect.Effect<Finished> =>
  Effect.promise(() =>
    run({ command: "/bin/sh", args: ["-c", line], cwd: workspace, env }, maxRunMs),
  )

/** Resolves with the processes that still run there after a few seconds. */
export const leftIn = ({ home }: Place): Effect.Effect<ReadonlyArray<number>> =>
  Effect.promise(async () => {
    for (let tries = 0; tries < 60 && runningIn(home).length > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return runningIn(home)
  })
