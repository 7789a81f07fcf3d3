/**
 * Starts a server process and connects to its standard streams.
 *
 * Owns the process; nothing of it outlives the scope (L8). Its standard error is passed on to that of
 * this process, unless `stderr` is `ignore`; its last lines are part of the error of a request that
 * the process did not answer before it exited.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import * as ErrorOutput from "./internal/ErrorOutput.ts"
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
   * `inherit` passes the process's standard error on to that of this process, `ignore` does not.
   * Default `inherit`.
   */
  readonly stderr?: "inherit" | "ignore"
  /**
   * How long the process may take to exit after the end of its input before it is killed. Default 2
   * s.
   */
  readonly maxLeaveMs?: number
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

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

/** How long after the end of its output a process may take to exit, so that its exit code is known. */
const maxExitMs = 500

/** Waits until the process has exited and its error output was read, or for `maxExitMs`. */
const exited = (child: Child) =>
  Effect.callback<void>((resume) => {
    if (hasExited(child) && child.stderr.readableEnded) return resume(Effect.void)
    const timer = setTimeout(() => resume(Effect.void), maxExitMs)
    // All outputs have been read then.
    child.once("close", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
  })

const exitOf = ({ exitCode, signalCode }: Child): string => {
  if (signalCode !== null) return `was ended by ${signalCode}`
  return exitCode === null ? "closed its output" : `exited with code ${exitCode}`
}

/** Why the process no longer answers: its exit and the last lines of its error output. */
const describeEnd = (command: string, child: Child, errors: ErrorOutput.ErrorOutput) =>
  Effect.map(exited(child), () => {
    const lines = errors.lastLines()
    const said = lines === "" ? "" : `; the last lines of its standard error:\n${lines}`
    return `\`${command}\` ${exitOf(child)}${said}`
  })

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.message

interface Started {
  readonly child: Child
  readonly errors: ErrorOutput.ErrorOutput
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

/** A connection to a process, which says at its end how the process ended. */
export type ProcessConnection = Connection & Required<Pick<Connection, "whyEnded">>

const start = ({ args = [], command, cwd, env, stderr = "inherit" }: StdioCommand): Started => {
  const child: Child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  })
  // The connection over the streams reports their errors, at its end.
  child.stdin.on("error", () => {})
  child.on("error", () => {})
  const failure = new Promise<Error>((resolve) => child.once("error", resolve))
  const passOn = (chunk: Uint8Array) => void process.stderr.write(chunk)
  const errors = ErrorOutput.read(child.stderr, stderr === "inherit" ? passOn : undefined)
  return { child, errors, failure: child.pid === undefined ? failure : undefined }
}

/**
 * Starts the process and returns its connection, until the scope closes. Fails when the process
 * cannot start; when it exits later, the connection ends.
 */
export const open = (
  server: StdioCommand,
): Effect.Effect<ProcessConnection, ConnectionClosed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => start(server)),
    ({ child }) => leave(child, server.maxLeaveMs ?? 2000),
  ).pipe(
    Effect.flatMap(({ child, errors, failure }) =>
      failure === undefined
        ? Effect.map(
            StdioConnection.make({ input: child.stdout, output: child.stdin }),
            (connection) => ({
              ...connection,
              whyEnded: describeEnd(server.command, child, errors),
            }),
          )
        : Effect.flatMap(
            Effect.promise(() => failure),
            (error) => Effect.fail(failed(server, error)),
          ),
    ),
  )
