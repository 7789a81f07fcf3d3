/**
 * Turns a configuration tree and what a client asks for into the settings of one conversation: precedence (§7.1),
 * defaults (§7.2), providers (§7.3). A pure function; the layer serves it as the port `SettingsResolver`.
 *
 * Never reads a file or the environment: the tree, the built-in providers and the directory come in as values.
 */
import type { ConfiguredSandboxMode, SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import {
  type ConversationSettings,
  SettingsError,
  type SettingsOverrides,
  SettingsResolver,
} from "../ConversationSettings.ts"
import type { ModelProvider } from "../ModelClient.ts"
import { withStored } from "../store/Settings.ts"
import { resolvePath } from "./AbsolutePath.ts"
import { Config, decode, type ProviderConfig } from "./ConfigSchema.ts"
import type { ConfigFault } from "./ConfigFault.ts"
import { applyRecord, type ConfigTree, isEmpty } from "./ConfigTree.ts"
import { contextWindowOf } from "./ModelFamily.ts"
import { toolSettings } from "./ToolSettings.ts"

/** Everything that does not depend on the conversation. */
export interface ResolveSource {
  /** `config.toml` with the `-c` edits laid on it. */
  readonly tree: ConfigTree
  /** An entry of the same id in `model_providers` does not replace one of these (§7.3). */
  readonly builtinProviders: ReadonlyArray<ModelProvider>
  /** The provider where `model_provider` names none. */
  readonly defaultProvider: string
  /** The directory of the process, absolute. */
  readonly cwd: string
  /** The person's login shell, where it is one that the model is told of. */
  readonly shell?: "bash" | "zsh"
}

/** Retries are capped as in the original (§6.4). */
const maxRetries = 100
const defaultBaseUrl = "https://api.openai.com/v1"

/** Where no `model` is configured; a provider that is not named here gets the original's default (§7.2). */
const defaultModels: ReadonlyMap<string, string> = new Map([
  ["offline", "offline"],
  ["oss", "gpt-oss:20b"],
])

const own = <A>(record: Readonly<Record<string, A>> | undefined, key: string): A | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

const providerOf = (id: string, config: ProviderConfig): ModelProvider => {
  const envKey = config.env_key ?? (config.requires_openai_auth ? "OPENAI_API_KEY" : undefined)
  return {
    id,
    name: config.name,
    wire: config.wire_api ?? "chat",
    baseUrl: (config.base_url ?? defaultBaseUrl).replace(/\/+$/, ""),
    ...(envKey === undefined ? {} : { envKey }),
    ...(config.env_key_instructions === undefined
      ? {}
      : { envKeyInstructions: config.env_key_instructions }),
    queryParams: config.query_params ?? {},
    httpHeaders: config.http_headers ?? {},
    envHttpHeaders: config.env_http_headers ?? {},
    requestMaxRetries: Math.min(config.request_max_retries ?? 4, maxRetries),
    streamMaxRetries: Math.min(config.stream_max_retries ?? 5, maxRetries),
    streamIdleTimeout: Duration.millis(config.stream_idle_timeout_ms ?? 300_000),
  }
}

const findProvider = (
  source: ResolveSource,
  config: Config,
  id: string,
): ModelProvider | undefined => {
  const builtin = source.builtinProviders.find((provider) => provider.id === id)
  if (builtin !== undefined) return builtin
  const configured = own(config.model_providers, id)
  return configured === undefined ? undefined : providerOf(id, configured)
}

const sandboxPolicyOf = (
  mode: ConfiguredSandboxMode,
  config: Config,
  cwd: string,
): SandboxPolicy => {
  if (mode === "read-only" || mode === "danger-full-access") return { mode }
  const write = config.sandbox_workspace_write ?? {}
  if (mode === "external-sandbox") return { mode, network_access: write.network_access ?? false }
  const roots = (write.writable_roots ?? []).map((root) => resolvePath(cwd, root))
  return {
    mode,
    ...(roots.length === 0 ? {} : { writable_roots: roots }),
    network_access: write.network_access ?? false,
    exclude_tmpdir_env_var: write.exclude_tmpdir_env_var ?? false,
    exclude_slash_tmp: write.exclude_slash_tmp ?? false,
  }
}

const fail = (message: string, key?: string) =>
  Result.fail(new SettingsError({ message, ...(key === undefined ? {} : { key }) }))

/** Most people configure nothing: then there is nothing to read, and no reader is made while a client waits. */
const read = (tree: ConfigTree): Result.Result<Config, ConfigFault> =>
  isEmpty(tree) ? Result.succeed({}) : decode(Config, tree)

/**
 * The settings of one conversation. Precedence, low to high: default, top level of the tree with the edits of
 * `overrides.config`, the selected profile, the other overrides. A profile therefore wins over an edit of the
 * top level, as in the original (§7.1).
 */
export const resolve = (
  source: ResolveSource,
  overrides: SettingsOverrides,
): Result.Result<ConversationSettings, SettingsError> => {
  const tree = applyRecord(source.tree, overrides.config ?? {})
  if (Result.isFailure(tree)) return fail(tree.failure)
  const decoded = read(tree.success)
  if (Result.isFailure(decoded)) return fail(decoded.failure.message, decoded.failure.key)
  const config = decoded.success

  const profileName = overrides.profile ?? config.profile
  const profile = profileName === undefined ? {} : own(config.profiles, profileName)
  if (profile === undefined) return fail(`config profile \`${profileName}\` not found`, "profile")

  const chosen = { ...config, ...profile }
  const providerId = overrides.stored?.provider ?? chosen.model_provider ?? source.defaultProvider
  const provider = findProvider(source, config, providerId)
  if (provider === undefined)
    return fail(`Model provider \`${providerId}\` not found`, "model_provider")

  const tools = toolSettings(chosen)
  if (Result.isFailure(tools)) return fail(tools.failure.message, tools.failure.key)
  const settings = { ...settle({ source, overrides, config: chosen, provider }), ...tools.success }
  const { stored } = overrides
  return Result.succeed(stored === undefined ? settings : withStored(settings, stored))
}

/** When and how the history is summarised. */
const compaction = (
  overrides: SettingsOverrides,
  config: Config,
): Pick<ConversationSettings, "compactPrompt" | "autoCompactTokenLimit"> => {
  const compactPrompt = overrides.compactPrompt ?? config.compact_prompt
  const autoCompactTokenLimit = config.model_auto_compact_token_limit
  return {
    ...(compactPrompt === undefined ? {} : { compactPrompt }),
    ...(autoCompactTokenLimit === undefined ? {} : { autoCompactTokenLimit }),
  }
}

const settle = (choice: {
  readonly source: ResolveSource
  readonly overrides: SettingsOverrides
  readonly config: Config
  readonly provider: ModelProvider
}): ConversationSettings => {
  const { source, overrides, config, provider } = choice
  const cwd = resolvePath(source.cwd, overrides.cwd ?? "")
  const model = overrides.model ?? config.model ?? defaultModels.get(provider.id) ?? "gpt-5"
  return {
    model,
    provider,
    cwd,
    approvalPolicy: overrides.approvalPolicy ?? config.approval_policy ?? "on-request",
    sandboxPolicy: sandboxPolicyOf(
      overrides.sandbox ?? config.sandbox_mode ?? "read-only",
      config,
      source.cwd,
    ),
    ...(overrides.baseInstructions === undefined
      ? {}
      : { baseInstructions: overrides.baseInstructions }),
    ...(config.experimental_instructions_file === undefined
      ? {}
      : { baseInstructionsFile: resolvePath(cwd, config.experimental_instructions_file) }),
    ...(config.experimental_resume === undefined || config.experimental_resume === ""
      ? {}
      : { resumePath: config.experimental_resume }),
    ...(overrides.developerInstructions === undefined
      ? {}
      : { developerInstructions: overrides.developerInstructions }),
    ...compaction(overrides, config),
    ...(source.shell === undefined ? {} : { shell: source.shell }),
    includePlanTool: overrides.includePlanTool ?? config.include_plan_tool ?? false,
    ...(config.model_reasoning_effort === undefined
      ? {}
      : { effort: config.model_reasoning_effort }),
    summary: config.model_reasoning_summary ?? "auto",
    ...(config.model_verbosity === undefined ? {} : { verbosity: config.model_verbosity }),
    contextWindow: config.model_context_window ?? contextWindowOf(model),
    showRawReasoning: config.show_raw_agent_reasoning ?? false,
  }
}

/** The port over a fixed source: for an embedding application, and for the CLI once it has read its files. */
export const layer = (source: ResolveSource): Layer.Layer<SettingsResolver> =>
  Layer.succeed(SettingsResolver, {
    resolve: (overrides) => Effect.fromResult(resolve(source, overrides)),
  })
