/**
 * A connection to a server that is started for it: a process that speaks on its standard streams.
 *
 * Owns the process; nothing of it outlives the scope (L8). Its stderr is that of this process.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as StdioConnection from "./StdioConnection.ts"

export interface StdioCommand {
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** Instead of this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: this process's directory. */
  readonly cwd?: string
  /** What the process writes on stderr. Default: it goes to this process's stderr. */
  readonly stderr?: "inherit" | "ignore"
  /** How long the process may take to leave after the end of its input, before it is killed. Default 2 s. */
  readonly maxLeaveMs?: number
}

type Child = ChildProcessByStdio<Writable, Readable, null>

const hasExited = (child: Child) => child.exitCode !== null || child.signalCode !== null

const leave = (child: Child, maxLeaveMs: number) =>
  Effect.callback<void>((resume) => {
    if (hasExited(child) || child.pid === undefined) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), maxLeaveMs)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.stdin.end()
  })

/**
 * Starts the process and gives its connection for the length of the scope. One that cannot start, or that ends, is the
 * end of the connection.
 */
export const open = ({
  args = [],
  command,
  cwd,
  env,
  maxLeaveMs = 2000,
  stderr = "inherit",
}: StdioCommand): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const child = spawn(command, args, {
        stdio: ["pipe", "pipe", stderr],
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
      })
      // The connection over the streams says what became of them, at its end.
      child.stdin.on("error", () => {})
      child.on("error", () => {})
      return child
    }),
    (child) => leave(child, maxLeaveMs),
  ).pipe(
    Effect.flatMap((child) => StdioConnection.make({ input: child.stdout, output: child.stdin })),
  )
