/**
 * Starts a server process and connects to its standard streams.
 *
 * Owns the process; nothing of it outlives the scope (L8). Its standard error is that of this
 * process, unless `stderr` is `ignore`.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as StdioConnection from "./StdioConnection.ts"

/** The command that starts a server. */
export interface StdioCommand {
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** Replaces this process's environment. Default: the process inherits it. */
  readonly env?: Readonly<Record<string, string>>
  /** Working directory. Default: that of this process. */
  readonly cwd?: string
  /**
   * `inherit` writes the process's standard error to that of this process, `ignore` drops it.
   * Default `inherit`.
   */
  readonly stderr?: "inherit" | "ignore"
  /**
   * How long the process may take to exit after the end of its input before it is killed. Default 2
   * s.
   */
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

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.message

interface Started {
  readonly child: Child
  /**
   * Waits until the process has started or failed to: Node reports the failure after it has
   * returned the process.
   */
  readonly failure: Promise<Error> | undefined
}

const failed = ({ command, cwd }: StdioCommand, error: Error) => {
  const where = cwd === undefined ? "" : ` in ${cwd}`
  return new ConnectionClosed({
    reason: `\`${command}\` cannot be started${where} (${codeOf(error)})`,
  })
}

/**
 * Starts the process and returns its connection, until the scope closes. Fails when the process
 * cannot start; when it exits later, the connection ends.
 */
export const open = (
  server: StdioCommand,
): Effect.Effect<Connection, ConnectionClosed, Scope.Scope> => {
  const { args = [], command, cwd, env, maxLeaveMs = 2000, stderr = "inherit" } = server
  return Effect.acquireRelease(
    Effect.sync((): Started => {
      const child: Child = spawn(command, args, {
        stdio: ["pipe", "pipe", stderr],
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
      })
      // The connection over the streams reports their errors, at its end.
      child.stdin.on("error", () => {})
      child.on("error", () => {})
      const failure = new Promise<Error>((resolve) => child.once("error", resolve))
      return { child, failure: child.pid === undefined ? failure : undefined }
    }),
    ({ child }) => leave(child, maxLeaveMs),
  ).pipe(
    Effect.flatMap(({ child, failure }) =>
      failure === undefined
        ? StdioConnection.make({ input: child.stdout, output: child.stdin })
        : Effect.flatMap(
            Effect.promise(() => failure),
            (error) => Effect.fail(failed(server, error)),
          ),
    ),
  )
}
