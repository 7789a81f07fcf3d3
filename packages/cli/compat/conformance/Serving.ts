/** The server that the referee checks, in a process of its own. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"

/** Starts the program and resolves with the address that it writes; the process ends with the scope. */
export const serving = (program: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [program], {
        env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir() },
        stdio: ["ignore", "pipe", "inherit"],
      }),
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        if (child.exitCode !== null || !child.kill()) resume(Effect.void)
      }),
  ).pipe(
    Effect.flatMap((child) =>
      Effect.callback<string>((resume) => {
        child.once("exit", () => resume(Effect.die(new Error(`${program} has ended`))))
        child.stdout.setEncoding("utf8").once("data", (text: string) => {
          resume(Effect.succeed(text.trim()))
        })
      }),
    ),
  )
