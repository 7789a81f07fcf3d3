/** The peer of every command of ours: the same program started by Node alone, its output read and dropped. */
import type { Launch } from "@colloquy/tools/process/Command"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"

/** Pipes for what the program reads and writes besides its three standard streams. */
const stdioOf = ({ inputs, statusFd }: Launch): Array<"ignore" | "pipe"> => {
  const last = Math.max(2, statusFd ?? 2, ...inputs.keys())
  return Array.from({ length: last + 1 }, (_, fd) => (fd === 0 ? "ignore" : "pipe"))
}

/** Over once everything it had open is closed. A program that fails is a defect: nothing would be measured. */
export const run = (launch: Launch): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const [program, ...args] = launch.argv
    const child = spawn(program, args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: stdioOf(launch),
      detached: true,
    })
    for (const stream of child.stdio) if (stream instanceof Readable) stream.resume()
    for (const [fd, bytes] of launch.inputs) {
      const stream = child.stdio[fd]
      if (stream instanceof Writable) stream.end(bytes)
    }
    child.once("error", (error) => resume(Effect.die(error)))
    child.once("close", (code) =>
      resume(code === 0 ? Effect.void : Effect.die(new Error(`${program} ended with ${code}`))),
    )
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })
