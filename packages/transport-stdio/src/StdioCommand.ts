/**
 * A connection to a server that is started for it: a process that speaks on its standard streams.
 *
 * Owns the process; nothing of it outlives the scope (L8). Its stderr is that of this process.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
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

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.message

interface Started {
  readonly child: Child
  /** Of a process that cannot start: Node tells why after it gave the process. */
  readonly failure: Promise<Error> | undefined
}

const failed = ({ command, cwd }: StdioCommand, error: Error) => {
  const where = cwd === undefined ? "" : ` in ${cwd}`
  return new ConnectionClosed({
    reason: `\`${command}\` cannot be started${where} (${codeOf(error)})`,
  })
}

/**
 * Starts the process and gives its connection for the length of the scope. Fails for one that cannot start; one that ends
 * is the end of the connection.
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
      // The connection over the streams says what became of them, at its end.
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
