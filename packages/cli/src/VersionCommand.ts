/** The option `--version`: prints one line. A configuration that cannot be loaded does not keep it from doing so. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Launch } from "./Args.ts"
import * as Environment from "./Environment.ts"
import * as Startup from "./Startup.ts"
import { statedVersion } from "./Version.ts"

export const run = async ({ overrides }: Launch): Promise<number> => {
  const startup = await Effect.runPromiseExit(Startup.load(Environment.read(), overrides))
  const compatibility = Exit.isSuccess(startup)
    ? startup.value.options.compatibility_version
    : undefined
  process.stdout.write(`colloquy ${statedVersion(compatibility)}\n`)
  return 0
}
