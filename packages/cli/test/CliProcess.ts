/** The built command line as a child process, for live tests. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("../bin/colloquy.mjs", import.meta.url))

export interface Outcome {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliProcess {
  /** Home directory of the process, created for it alone. */
  readonly home: string
  readonly child: ChildProcessWithoutNullStreams
  readonly write: (...messages: ReadonlyArray<unknown>) => void
  /** Waits until stdout contains this text, and resolves with the whole output so far. */
  readonly stdoutHas: (text: string) => Effect.Effect<string>
  readonly stderrHas: (text: string) => Effect.Effect<string>
  /** Waits until the process has exited and all of its output has been read. */
  readonly outcome: Effect.Effect<Outcome>
}

/** The text of a `config.toml` that requests the offline model. */
const offline = 'model_provider = "offline"\n'

/** Creates a new state directory; `config` is the text of its `config.toml`. */
export const stateDirectory = (config = offline): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "colloquy-"))
      writeFileSync(join(directory, "config.toml"), config)
      return directory
    }),
    (directory) =>
      Effect.sync(() => rmSync(directory, { recursive: true, maxRetries: 10, force: true })),
  )

/** Collects everything that a stream has emitted so far. */
const gather = (stream: Readable) => {
  let all = ""
  const watchers = new Set<() => void>()
  stream.setEncoding("utf8").on("data", (text: string) => {
    all += text
    for (const watcher of watchers) watcher()
  })
  return {
    text: () => all,
    has: (text: string) =>
      Effect.callback<string>((resume) => {
        const watcher = () => {
          if (!all.includes(text)) return
          watchers.delete(watcher)
          resume(Effect.succeed(all))
        }
        watchers.add(watcher)
        watcher()
      }),
  }
}

/**
 * Starts the program; if it still runs when the scope closes, it is killed. It inherits no settings from this process,
 * and the offline model answers unless the state directory named in `variables` selects another one.
 */
export const start = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>> = {},
): Effect.Effect<CliProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    const home = yield* stateDirectory()
    yield* Effect.sync(() => {
      mkdirSync(join(home, ".colloquy"))
      writeFileSync(join(home, ".colloquy", "config.toml"), offline)
    })
    return watch(yield* spawned(args, { HOME: home, ...variables }), home)
  })

const spawned = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [entry, ...args], {
        env: { PATH: process.env["PATH"], ...variables },
      }),
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL")),
  )

const watch = (child: ChildProcessWithoutNullStreams, home: string): CliProcess => {
  const stdout = gather(child.stdout)
  const stderr = gather(child.stderr)
  child.stdin.on("error", () => {})
  const closed = new Promise<Outcome>((resolve) => {
    child.once("close", (code, signal) =>
      resolve({ code, signal, stdout: stdout.text(), stderr: stderr.text() }),
    )
  })
  return {
    home,
    child,
    write: (...messages) =>
      child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join("")),
    stdoutHas: stdout.has,
    stderrHas: stderr.has,
    outcome: Effect.promise(() => closed),
  }
}

/** Runs the program to its end without any input. */
export const run = (
  args: ReadonlyArray<string>,
  variables?: Readonly<Record<string, string>>,
): Effect.Effect<Outcome> =>
  Effect.scoped(
    Effect.flatMap(start(args, variables), (cli) => {
      cli.child.stdin.end()
      return cli.outcome
    }),
  )
