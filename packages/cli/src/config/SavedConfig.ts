/** Converts `config.toml` to the form that the app-server's `getUserSavedConfig` returns. Pure. */
import { approvalSettings } from "@colloquy/config/ApprovalPolicy"
import type { Config } from "@colloquy/config/ConfigSchema"
import type { UserSavedConfig } from "@colloquy/protocol/app/Host"

/** The policy of the core, because the result has no form for `granular`. */
const policyOf = (
  configured: NonNullable<Config["approval_policy"]>,
): NonNullable<UserSavedConfig["approvalPolicy"]> => approvalSettings(configured).approvalPolicy

type Profile = NonNullable<Config["profiles"]>[string]

const profileOf = (profile: Profile): UserSavedConfig["profiles"][string] => ({
  model: profile.model ?? null,
  modelProvider: profile.model_provider ?? null,
  approvalPolicy: profile.approval_policy === undefined ? null : policyOf(profile.approval_policy),
  modelReasoningEffort: profile.model_reasoning_effort ?? null,
  modelReasoningSummary: profile.model_reasoning_summary ?? null,
  modelVerbosity: profile.model_verbosity ?? null,
  chatgptBaseUrl: profile.chatgpt_base_url ?? null,
})

type Sandbox = NonNullable<Config["sandbox_workspace_write"]>

const sandboxOf = (sandbox: Sandbox): NonNullable<UserSavedConfig["sandboxSettings"]> => ({
  writableRoots: sandbox.writable_roots ?? [],
  ...(sandbox.network_access === undefined ? {} : { networkAccess: sandbox.network_access }),
  ...(sandbox.exclude_tmpdir_env_var === undefined
    ? {}
    : { excludeTmpdirEnvVar: sandbox.exclude_tmpdir_env_var }),
  ...(sandbox.exclude_slash_tmp === undefined
    ? {}
    : { excludeSlashTmp: sandbox.exclude_slash_tmp }),
})

const toolsOf = (tools: NonNullable<Config["tools"]>): NonNullable<UserSavedConfig["tools"]> => {
  const webSearch = tools.web_search ?? tools.web_search_request
  return {
    ...(webSearch === undefined ? {} : { webSearch }),
    ...(tools.view_image === undefined ? {} : { viewImage: tools.view_image }),
  }
}

/** Members that the file does not set are absent; those of a profile are `null`. */
export const savedConfig = (config: Config): UserSavedConfig => ({
  ...(config.approval_policy === undefined
    ? {}
    : { approvalPolicy: policyOf(config.approval_policy) }),
  ...(config.sandbox_mode === undefined ? {} : { sandboxMode: config.sandbox_mode }),
  ...(config.sandbox_workspace_write === undefined
    ? {}
    : { sandboxSettings: sandboxOf(config.sandbox_workspace_write) }),
  ...(config.model === undefined ? {} : { model: config.model }),
  ...(config.model_reasoning_effort === undefined
    ? {}
    : { modelReasoningEffort: config.model_reasoning_effort }),
  ...(config.model_reasoning_summary === undefined
    ? {}
    : { modelReasoningSummary: config.model_reasoning_summary }),
  ...(config.model_verbosity === undefined ? {} : { modelVerbosity: config.model_verbosity }),
  ...(config.tools === undefined ? {} : { tools: toolsOf(config.tools) }),
  ...(config.profile === undefined ? {} : { profile: config.profile }),
  profiles: Object.fromEntries(
    Object.entries(config.profiles ?? {}).map(([name, profile]) => [name, profileOf(profile)]),
  ),
})
