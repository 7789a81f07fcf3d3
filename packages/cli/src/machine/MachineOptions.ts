/** The facts about this process that the tools need: its environment, its Node, its secret variables and directories. */
import type { ResolveSource } from "@colloquy/config/Resolve"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import type { Environment } from "./Environment.ts"

/** The secret variables are those of the built-in providers; the settings of each conversation add those that the configuration names. */
export const machineOptions = (environment: Environment, source: ResolveSource): ToolsOptions => ({
  environment: process.env,
  node: process.execPath,
  secretNames: source.builtinProviders.flatMap(({ envKey }) => envKey ?? []),
  hiddenPaths: environment.hiddenDirectories,
})
