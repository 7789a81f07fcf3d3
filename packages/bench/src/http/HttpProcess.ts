/** A server in a process of its own that listens on a port, and what it uses. It ends with its scope. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { usageOf } from "../process/ProcessTree.ts"

/** A server that listens. */
export interface HttpProcess {
  readonly port: number
  /** Bytes of its heap and of what that keeps outside, after garbage collection. */
  readonly heapBytes: Effect.Effect<number>
  /** Processor time used so far; 0 on systems without `/proc`. */
  readonly processorMs: () => number
}

/** The numbers that a process writes, each on a line after its name. */
const numbersOf = (child: ChildProcess, output: Readable) => {
  const waiting: Array<(line: string) => void> = []
  let rest = ""
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) waiting.shift()?.(line)
  })
  child.once("close", () => {
    for (const resolve of waiting) resolve("")
  })
  return (name: string) =>
    Effect.callback<number>((resume) => {
      waiting.push((line) => {
        const [first, digits] = line.split(" ")
        resume(
          first === name
            ? Effect.succeed(Number(digits))
            : Effect.die(new Error(`${child.spawnargs.join(" ")}: no ${name}`)),
        )
      })
    })
}

/**
 * Starts a server.
 *
 * @param args arguments of Node: a program that tells its port and, on `SIGUSR2`, its heap (`peers/HttpPeer.ts`)
 */
export const make = (args: ReadonlyArray<string>): Effect.Effect<HttpProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--expose-gc", ...args], {
        stdio: ["ignore", "pipe", "ignore"],
      })
      return { child, told: numbersOf(child, child.stdout) }
    }),
    ({ child }) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        if (child.exitCode !== null || !child.kill("SIGKILL")) resume(Effect.void)
      }),
  ).pipe(
    Effect.flatMap(({ child, told }) =>
      Effect.map(told("port"), (port) => ({
        port,
        heapBytes: Effect.suspend(() => {
          child.kill("SIGUSR2")
          return told("heap")
        }),
        processorMs: () => usageOf(child.pid ?? 0).processorMs,
      })),
    ),
  )
