/** Runs `colloquy` as a child process while a scope is open. The process never outlives the scope (L8). */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { packageFile } from "../PackageFile.ts"

/** The published entry, whose relative path is the same from the sources and from the bundle. */
const entry = packageFile("bin/colloquy.mjs")

/** How long the server may take to exit after the end of its input before it is killed. */
const maxExitMs = 2000
/** How much of the end of stderr is kept, in UTF-16 units. */
const maxStderrChars = 4000

/** The running process. */
export interface ChildServer {
  readonly input: Writable
  readonly output: Readable
  readonly pid: number | undefined
  /** The last 4000 characters that it wrote to stderr. */
  readonly stderrTail: () => string
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const hasExited = (child: Child) => child.exitCode !== null || child.signalCode !== null

const stop = (child: Child) =>
  Effect.callback<void>((resume) => {
    if (hasExited(child) || child.pid === undefined) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), maxExitMs)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.stdin.end()
  })

/** Starts `colloquy` with these arguments, in the current directory and with the environment of this process. */
export const start = (
  args: ReadonlyArray<string>,
): Effect.Effect<ChildServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [entry, ...args], { stdio: ["pipe", "pipe", "pipe"] })
      let tail = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        tail = (tail + text).slice(-maxStderrChars)
      })
      // Writing to an exited process fails here; the connection over these streams reports it.
      child.stdin.on("error", () => {})
      // A process that cannot start ends its streams and thereby the connection over them.
      child.on("error", (error) => {
        tail += error.message
      })
      return { child, stderrTail: () => tail.trim() }
    }),
    ({ child }) => stop(child),
  ).pipe(
    Effect.map(({ child, stderrTail }) => ({
      input: child.stdin,
      output: child.stdout,
      pid: child.pid,
      stderrTail,
    })),
  )
