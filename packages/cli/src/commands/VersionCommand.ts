/**
 * The option `--version`: prints one line on stdout and exits with 0, even if the configuration is not valid: clients check
 * the version before anything else. A configuration that cannot be loaded causes a warning on stderr.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Launch } from "../args/Args.ts"
import * as Environment from "../machine/Environment.ts"
import * as Startup from "../server/Startup.ts"
import { statedVersion } from "../server/Version.ts"

/** Prints the version. Resolves with the exit code 0. */
export const run = async (launch: Launch): Promise<number> => {
  const environment = Environment.read(launch.directory)
  const startup = await Effect.runPromiseExit(Startup.load(environment, launch))
  const compatibility = Exit.isSuccess(startup)
    ? startup.value.options.compatibility_version
    : undefined
  process.stdout.write(`colloquy ${statedVersion(compatibility)}\n`)
  if (Exit.isFailure(startup)) {
    process.stderr.write(
      `colloquy: warning: the configuration cannot be loaded, so this is the default version: ${Startup.messageOf(startup.cause)}\n`,
    )
  }
  return 0
}
