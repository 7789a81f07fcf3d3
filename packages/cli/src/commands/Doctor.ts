/**
 * The command `doctor`: reports whether commands can be confined on this machine, what is missing and how to install it, and
 * which login the provider `openai` uses. Exit codes: 0 the sandbox works, 1 it does not. A missing login does not change
 * the exit code, because not every provider needs one.
 */
import * as Doctor from "@colloquy/tools/sandbox/Doctor"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import * as NodePlatform from "../machine/NodePlatform.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type LoginLine, loginLine } from "../auth/LoginReport.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Environment from "../machine/Environment.ts"
import * as MachinePrograms from "../machine/MachinePrograms.ts"
import { serverOptions } from "../args/ServerOptions.ts"

const marks = { ok: "ok      ", missing: "missing ", broken: "broken  " } as const

/** The setting `login.from_codex`, or why it cannot be read. */
const usesOriginal = (stateDirectory: string): Result.Result<boolean, string> =>
  ConfigFile.read(stateDirectory).pipe(
    Result.flatMap(({ tree }) => Result.mapError(serverOptions(tree), ({ message }) => message)),
    Result.map(({ login }) => login?.from_codex ?? true),
  )

const loginOf = (environment: Environment.Environment): Effect.Effect<LoginLine> => {
  const { hasOpenaiKey, originalDirectory: directory, stateDirectory } = environment
  const isUsed = usesOriginal(stateDirectory)
  return Result.isFailure(isUsed)
    ? Effect.succeed({ state: "broken", text: `login: ${isUsed.failure.trim()}` })
    : loginLine({
        stateDirectory,
        hasVariable: hasOpenaiKey,
        ...(directory === undefined ? {} : { original: { directory, isUsed: isUsed.success } }),
      })
}

/** Prints one line per check on stdout. Resolves with the exit code. */
export const run = (): Promise<number> => {
  const environment = Environment.read()
  const machine = { platform: process.platform, processor: process.arch }
  return Doctor.doctorFacts(machine).pipe(
    Effect.zip(loginOf(environment)),
    Effect.map(([facts, login]) => {
      const lines = [...Doctor.doctorLines(facts), login]
      process.stdout.write(lines.map(({ state, text }) => `${marks[state]}${text}\n`).join(""))
      return facts.sandbox._tag === "Available" ? 0 : 1
    }),
    Effect.provide(
      Layer.provideMerge(
        SandboxLayer.layer({
          machine,
          environment: process.env,
          hiddenPaths: environment.hiddenDirectories,
        }),
        Layer.merge(NodePlatform.layer, MachinePrograms.layer(process.env)),
      ),
    ),
    Effect.runPromise,
  )
}
