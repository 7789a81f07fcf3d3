/** The facts about this process that the tools need: its environment, its Node, its secret variables and directories. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import type { ResolveSource } from "@colloquy/config/Resolve"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import type { Environment } from "./Environment.ts"

/** The variables that hold headers of exports. */
const telemetryVariables = ({ tree }: ResolveSource): ReadonlyArray<string> => {
  const headers = ConfigTree.get(tree, "telemetry.otlp_env_headers")
  return ConfigTree.isTable(headers)
    ? Object.values(headers).filter((name) => typeof name === "string")
    : []
}

/** The secret variables are those of exports and those of the built-in providers; the settings of each conversation add those that the configuration names. */
export const machineOptions = (environment: Environment, source: ResolveSource): ToolsOptions => ({
  environment: process.env,
  node: process.execPath,
  secretNames: [
    ...source.builtinProviders.flatMap(({ envKey }) => envKey ?? []),
    ...telemetryVariables(source),
  ],
  hiddenPaths: environment.hiddenDirectories,
})
