/** Runs the programs of clients, each in a separate process group, which is killed after the time limit. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"

export interface Launch {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** The whole environment; absent: that of this process. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Finished {
  /** Exit code; undefined when the program, or a process that it started, had to be killed. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

const launch = ({ args, command, cwd, env }: Launch): ChildProcess =>
  spawn(command, args, {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...(env === undefined ? {} : { env }),
  })

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ESRCH") throw error
  }
}

/** What a stream has delivered so far. */
const collected = (stream: NodeJS.ReadableStream | null): (() => string) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece
  })
  return () => text
}

/**
 * Resolves when the program has exited and every process that holds its output has, too; rejects when it cannot be
 * started.
 */
export const run = (program: Launch, timeoutMs: number): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = launch(program)
    const stdout = collected(child.stdout)
    const stderr = collected(child.stderr)
    let isTimeout = false
    const timer = setTimeout(() => {
      isTimeout = true
      killGroup(child)
    }, timeoutMs)
    child.once("error", (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once("close", (code) => {
      clearTimeout(timer)
      resolve({ code: isTimeout ? undefined : (code ?? -1), stdout: stdout(), stderr: stderr() })
    })
  })

export interface Running {
  /** Everything that the program has written to stdout and stderr so far. */
  readonly output: () => string
  /** Sends the signal only to the program, not to its group, and waits for its exit. */
  readonly stop: (signal: NodeJS.Signals, timeoutMs: number) => Promise<void>
}

const spawned = (program: Launch): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = launch(program)
    child.once("error", reject)
    child.once("spawn", () => resolve(child))
  })

const runningOf = (child: ChildProcess): Running => {
  const stdout = collected(child.stdout)
  const stderr = collected(child.stderr)
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
  })
  const late = (signal: NodeJS.Signals, timeoutMs: number) =>
    new Promise<never>((_, reject) => {
      const message = `it still runs ${timeoutMs} ms after ${signal}`
      setTimeout(() => reject(new Error(message)), timeoutMs).unref()
    })
  return {
    output: () => `${stdout()}${stderr()}`,
    stop: (signal, timeoutMs) => {
      child.kill(signal)
      return Promise.race([exited, late(signal, timeoutMs)])
    },
  }
}

/** Starts a program that runs until it is stopped; its group is killed with the scope. */
export const start = (program: Launch): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => spawned(program)),
    (child) => Effect.sync(() => killGroup(child)),
  ).pipe(Effect.map(runningOf))
