/** Which login this machine has, for a person: the configuration says whether that of the original counts. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { serverOptions } from "../args/ServerOptions.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import type { Environment } from "../machine/Environment.ts"
import { type LoginLine, loginLine } from "./LoginReport.ts"

/** The setting `login.from_codex`, or why it cannot be read. */
const usesOriginal = (stateDirectory: string): Result.Result<boolean, string> =>
  ConfigFile.read(stateDirectory).pipe(
    Result.flatMap(({ tree }) => Result.mapError(serverOptions(tree), ({ message }) => message)),
    Result.map(({ login }) => login?.from_codex ?? true),
  )

/** The line of the login. */
export const loginOf = (environment: Environment): Effect.Effect<LoginLine> => {
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
