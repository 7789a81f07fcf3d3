/** The peer of every command: the same program started by Node, its output read and discarded. */
import type { Launch } from "@colloquy/tools/process/Command"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"

/** Pipes for the program's descriptors beyond its three standard streams. */
const stdioOf = ({ inputs, statusFd }: Launch): Array<"ignore" | "pipe"> => {
  const last = Math.max(2, statusFd ?? 2, ...inputs.keys())
  return Array.from({ length: last + 1 }, (_, fd) => (fd === 0 ? "ignore" : "pipe"))
}

/** Runs the program and resolves when all its streams are closed. A program that fails is a defect. */
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
