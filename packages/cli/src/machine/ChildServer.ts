/** A server process of our own for as long as a scope is open; nothing of it outlives the scope (L8). */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"

/** The published entry: one directory up from the sources and from the bundle alike. */
const entry = fileURLToPath(new URL("../bin/colloquy.mjs", import.meta.url))

/** The end of its input asks the server to leave; this is how long it may take before it is killed. */
const maxLeaveMs = 2000
const maxComplaintChars = 4000

export interface ChildServer {
  readonly input: Writable
  readonly output: Readable
  readonly pid: number | undefined
  /** The end of what it wrote on stderr. */
  readonly complaint: () => string
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const hasExited = (child: Child) => child.exitCode !== null || child.signalCode !== null

const leave = (child: Child) =>
  Effect.callback<void>((resume) => {
    if (hasExited(child) || child.pid === undefined) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), maxLeaveMs)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.stdin.end()
  })

/** Starts `colloquy` with these arguments, in this directory and with this environment. */
export const start = (
  args: ReadonlyArray<string>,
): Effect.Effect<ChildServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [entry, ...args], { stdio: ["pipe", "pipe", "pipe"] })
      let complaint = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        complaint = (complaint + text).slice(-maxComplaintChars)
      })
      // Writing to a process that has gone: the connection over these streams says so, at its end.
      child.stdin.on("error", () => {})
      // A process that cannot start ends its streams, and the connection over them with it.
      child.on("error", (error) => {
        complaint += error.message
      })
      return { child, complaint: () => complaint.trim() }
    }),
    ({ child }) => leave(child),
  ).pipe(
    Effect.map(({ child, complaint }) => ({
      input: child.stdin,
      output: child.stdout,
      pid: child.pid,
      complaint,
    })),
  )
