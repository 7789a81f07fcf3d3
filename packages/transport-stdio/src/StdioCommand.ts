/**
 * Starts a server process and connects to its standard streams.
 *
 * Owns the process; nothing of it outlives the scope (L8). What it writes to standard error is
 * passed on to that of this process, unless `stderr` is `ignore`; its last lines explain an exit.
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

/** Characters of standard error that are kept for the reason of an end, and the most lines that it quotes. */
const maxKeptChars = 4000
const maxQuotedLines = 10

/** How long after the end of its output a process may take to exit and still be reported with its exit code. */
const maxExitMs = 500

/** Keeps the last lines that a process writes to standard error, and passes them on. */
class LastLines {
  private text = ""

  constructor(child: Child, isInherited: boolean) {
    // Only the characters count: a cut one at the boundary of two chunks is of no use to a reader.
    child.stderr.on("data", (chunk: Buffer) => {
      this.text = (this.text + chunk.toString("utf8")).slice(-maxKeptChars)
      if (isInherited) process.stderr.write(chunk)
    })
    child.stderr.on("error", () => {})
  }

  get quoted(): string {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "")
    return lines.length === 0
      ? "it printed nothing on standard error"
      : `the end of its standard error:\n${lines.slice(-maxQuotedLines).join("\n")}`
  }
}

/** How the process exited; undefined while it runs. */
const whyEnded = (command: string, child: Child, lines: LastLines) =>
  Effect.callback<string | undefined>((resume) => {
    const report = () => {
      clearTimeout(timer)
      child.removeListener("close", report)
      const how =
        child.signalCode === null
          ? `exited with code ${child.exitCode}`
          : `was ended by the signal ${child.signalCode}`
      resume(
        Effect.succeed(
          hasExited(child) ? `the server \`${command}\` ${how}; ${lines.quoted}` : undefined,
        ),
      )
    }
    // A process of the server may keep standard error open.
    const timer = setTimeout(report, maxExitMs)
    child.once("close", report)
    if (hasExited(child) && child.stderr.readableEnded) report()
    return Effect.sync(() => {
      clearTimeout(timer)
      child.removeListener("close", report)
    })
  })

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.message

interface Started {
  readonly child: Child
  readonly lines: LastLines
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
  return {
    child,
    lines: new LastLines(child, stderr === "inherit"),
    failure: child.pid === undefined ? failure : undefined,
  }
}

/**
 * Starts the process and returns its connection, until the scope closes. Fails when the process
 * cannot start; when it exits later, the connection ends, and `whyEnded` gives the exit code and the
 * last lines of standard error.
 */
export const open = (
  server: StdioCommand,
): Effect.Effect<Connection, ConnectionClosed, Scope.Scope> => {
  const { command, maxLeaveMs = 2000 } = server
  return Effect.acquireRelease(
    Effect.sync(() => start(server)),
    // What still holds standard error open does not keep this process alive.
    ({ child }) =>
      Effect.ensuring(
        leave(child, maxLeaveMs),
        Effect.sync(() => child.stderr.destroy()),
      ),
  ).pipe(
    Effect.flatMap(({ child, failure, lines }) =>
      failure === undefined
        ? Effect.map(
            StdioConnection.make({ input: child.stdout, output: child.stdin }),
            (connection): Connection => ({
              ...connection,
              whyEnded: whyEnded(command, child, lines),
            }),
          )
        : Effect.flatMap(
            Effect.promise(() => failure),
            (error) => Effect.fail(failed(server, error)),
          ),
    ),
  )
}
