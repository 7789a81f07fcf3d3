/** What the tools are told of this process: its environment, its Node, what of its files and variables is secret. */
import type { ConfigTree } from "@colloquy/core/settings/ConfigTree"
import type { ResolveSource } from "@colloquy/core/settings/Resolve"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import type { Environment } from "./Environment.ts"

const texts = (tables: unknown, keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  typeof tables !== "object" || tables === null
    ? []
    : Object.values(tables as ConfigTree).flatMap((table) =>
        typeof table !== "object" || table === null
          ? []
          : keys.flatMap((key) => {
              const value = Object.hasOwn(table, key) ? Reflect.get(table, key) : undefined
              return typeof value === "string" ? [value] : []
            }),
      )

/** Variables that the configuration names as keys of providers and of tool servers. */
const secretNames = ({ builtinProviders, tree }: ResolveSource): ReadonlyArray<string> => [
  ...builtinProviders.flatMap(({ envKey }) => envKey ?? []),
  ...texts(tree["model_providers"], ["env_key"]),
  ...texts(tree["mcp_servers"], ["bearer_token_env_var"]),
]

export const machineOptions = (environment: Environment, source: ResolveSource): ToolsOptions => ({
  environment: process.env,
  node: process.execPath,
  secretNames: secretNames(source),
  hiddenPaths: [environment.stateDirectory],
})
