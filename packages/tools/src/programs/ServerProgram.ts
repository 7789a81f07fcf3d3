/**
 * Runs a program for the server's own purposes: a trusted program, with no environment but the variables named here. It
 * runs in the sandbox of this machine if there is one, read-only and without network, unless it only reads data. Never
 * runs what the model asked for (L15).
 */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Sandbox } from "../sandbox/Sandbox.ts"
import type { CommandNotStarted, CommandResult } from "../process/Command.ts"
import type { CommandRunner, RunOptions } from "../process/CommandRunner.ts"
import type { ProgramNotTrusted, TrustedPrograms } from "./TrustedPrograms.ts"

/**
 * The environment of such a program contains nothing of the server's environment, which could make it start another
 * program (`LD_PRELOAD`, `GIT_*`, `BASH_ENV`, `NODE_OPTIONS`, `RIPGREP_CONFIG_PATH`, `PAGER`).
 */
const ownEnvironment: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  HOME: "/nonexistent",
  LC_ALL: "C",
}

/** The services that start such a program. */
export interface ServerProgramServices {
  readonly runner: CommandRunner["Service"]
  readonly sandbox: Sandbox["Service"]
  readonly programs: TrustedPrograms["Service"]
}

/** A program that the server runs for its own purposes. */
export interface ServerProgram {
  /** Name of the program, such as `git`. */
  readonly name: string
  /** Absolute path of the copy that was installed together with the server, if there is one. */
  readonly installed?: string
  /** Arguments without the program itself. */
  readonly args: ReadonlyArray<string>
  /** Working directory, an absolute path. */
  readonly cwd: string
  /** Variables added to the environment. */
  readonly variables?: Readonly<Record<string, string>>
  /** A directory that the program can read even inside a directory that the sandbox hides. Default: `cwd`. */
  readonly visible?: string
  /**
   * True for a program that executes nothing it reads: a trusted one then runs without sandbox, and sees hidden files.
   */
  readonly readsDataOnly?: boolean
}

const readOnly = { mode: "read-only" } satisfies SandboxPolicy

/**
 * Runs the program to its end. Fails when no trustworthy program was found, or when it never ran. A copy that was
 * installed where commands can write runs only in the sandbox.
 */
export const run = Effect.fn("ServerProgram.run")(function* (
  { programs, runner, sandbox }: ServerProgramServices,
  program: ServerProgram,
  options: RunOptions,
): Effect.fn.Return<CommandResult, CommandNotStarted | ProgramNotTrusted, Scope.Scope> {
  const { args, cwd, installed, name } = program
  const isAvailable = (yield* sandbox.status)._tag === "Available"
  const resolved = yield* Effect.result(programs.resolve(name, installed))
  // Without a sandbox a program that was refused does not run.
  if (Result.isFailure(resolved) && (installed === undefined || !isAvailable)) {
    return yield* resolved.failure
  }
  const path = Result.isSuccess(resolved) ? resolved.success : (installed ?? name)
  const isConfined = isAvailable && (Result.isFailure(resolved) || program.readsDataOnly !== true)
  const command = {
    argv: [path, ...args] as const,
    cwd,
    env: { ...ownEnvironment, ...program.variables },
  }
  const launch = isConfined
    ? sandbox.confine(command, readOnly, program.visible ?? cwd)
    : { ...command, inputs: new Map<number, Uint8Array>(), diesWithParent: false }
  return yield* runner.run(launch, options)
}, Effect.scoped)
