/**
 * The settings of tools from the configuration: environment of commands, tool servers, which tools
 * are offered. Pure.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type {
  ConversationSettings,
  McpServer,
  ShellEnvironment,
} from "@colloquy/core/ConversationSettings"
import { ConfigFault } from "./ConfigFault.ts"
import type { Config, McpServerConfig } from "./ConfigSchema.ts"

const shellEnvironment = (
  config: NonNullable<Config["shell_environment_policy"]>,
): ShellEnvironment => ({
  inherit: config.inherit ?? "all",
  ignoreDefaultExcludes: config.ignore_default_excludes ?? false,
  exclude: config.exclude ?? [],
  set: config.set ?? {},
  includeOnly: config.include_only ?? [],
})

const failAtKey = (key: string, problem: string) =>
  Result.fail(new ConfigFault({ message: `\`${key}\`: ${problem}`, key }))

const transportOf = (
  at: string,
  config: McpServerConfig,
): Result.Result<McpServer["transport"], ConfigFault> => {
  const { command, url } = config
  if ((command === undefined) === (url === undefined)) {
    return failAtKey(at, "expected either `command` or `url`")
  }
  if (url !== undefined) {
    return Result.succeed({
      _tag: "Http",
      url,
      headers: config.http_headers ?? {},
      ...(config.bearer_token_env_var === undefined
        ? {}
        : { bearerTokenEnv: config.bearer_token_env_var }),
    })
  }
  return Result.succeed({
    _tag: "Stdio",
    command: command ?? "",
    args: config.args ?? [],
    env: config.env ?? {},
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
  })
}

const serverName = /^[a-zA-Z0-9_-]+$/

const mcpServers = (
  configs: Readonly<Record<string, McpServerConfig>>,
): Result.Result<Record<string, McpServer>, ConfigFault> => {
  const servers: Record<string, McpServer> = {}
  for (const [name, config] of Object.entries(configs)) {
    if (config.enabled === false) continue
    const at = `mcp_servers.${name}`
    if (!serverName.test(name)) {
      return failAtKey(at, "expected a name of letters, digits, `_` and `-`")
    }
    const transport = transportOf(at, config)
    if (Result.isFailure(transport)) return Result.fail(transport.failure)
    const startup =
      config.startup_timeout_sec === undefined
        ? Duration.millis(config.startup_timeout_ms ?? 10_000)
        : Duration.seconds(config.startup_timeout_sec)
    servers[name] = {
      transport: transport.success,
      startupTimeout: startup,
      toolTimeout: Duration.seconds(config.tool_timeout_sec ?? 60),
      ...(config.default_tools_approval_mode === undefined
        ? {}
        : { approval: config.default_tools_approval_mode }),
    }
  }
  return Result.succeed(servers)
}

const secretNames = (config: Config): ReadonlyArray<string> => [
  ...Object.values(config.model_providers ?? {}).flatMap(({ env_http_headers, env_key }) => [
    ...(env_key === undefined ? [] : [env_key]),
    ...Object.values(env_http_headers ?? {}),
  ]),
  ...Object.values(config.mcp_servers ?? {}).flatMap(
    ({ bearer_token_env_var }) => bearer_token_env_var ?? [],
  ),
]

/** The settings that the configuration determines for tools. */
export const toolSettings = (
  config: Config,
): Result.Result<Partial<ConversationSettings>, ConfigFault> => {
  const policy = config.shell_environment_policy
  const secrets = secretNames(config)
  const webSearch = config.tools?.web_search ?? config.tools?.web_search_request
  return Result.map(mcpServers(config.mcp_servers ?? {}), (servers) => ({
    ...(policy === undefined ? {} : { shellEnvironment: shellEnvironment(policy) }),
    ...(secrets.length === 0 ? {} : { secretNames: secrets }),
    ...(policy?.experimental_use_profile === true ? { useLoginShell: true } : {}),
    ...(config.include_apply_patch_tool === undefined
      ? {}
      : { includeApplyPatchTool: config.include_apply_patch_tool }),
    ...(config.tools?.view_image === undefined
      ? {}
      : { includeViewImageTool: config.tools.view_image }),
    ...(webSearch === true ? { includeWebSearchTool: true } : {}),
    ...(config.tools?.request_user_input === true ? { includeUserInputTool: true } : {}),
    ...(Object.keys(servers).length === 0 ? {} : { mcpServers: servers }),
    ...(config.project_doc_max_bytes === undefined
      ? {}
      : { projectDocMaxBytes: config.project_doc_max_bytes }),
    ...(config.unattended === undefined ? {} : { unattended: config.unattended }),
    ...(config.on_restart === undefined ? {} : { onRestart: config.on_restart }),
    ...(config.approval_timeout_sec === undefined
      ? {}
      : { approvalDeadline: Duration.seconds(config.approval_timeout_sec) }),
  }))
}
