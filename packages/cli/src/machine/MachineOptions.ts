/** What the tools are told of this process: its environment, its Node, what of its files and variables is secret. */
import type { ResolveSource } from "@colloquy/config/Resolve"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import type { Environment } from "./Environment.ts"

/** The variables that a configuration names are in the settings of each conversation. */
export const machineOptions = (environment: Environment, source: ResolveSource): ToolsOptions => ({
  environment: process.env,
  node: process.execPath,
  secretNames: source.builtinProviders.flatMap(({ envKey }) => envKey ?? []),
  hiddenPaths: environment.hiddenDirectories,
})
