/**
 * Turns a configuration tree and what a client asks for into the settings of one conversation: precedence (§7.1),
 * defaults (§7.2), providers (§7.3). A pure function; the layer serves it as the port `SettingsResolver`.
 *
 * Never reads a file or the environment: the tree, the built-in providers and the directory come in as values.
 */
import type { ConfiguredSandboxMode, SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import {
  type ConversationSettings,
  SettingsError,
  type SettingsOverrides,
  SettingsResolver,
} from "@colloquy/core/ConversationSettings"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import { withStored } from "@colloquy/core/store/Settings"
import { resolvePath } from "@colloquy/core/AbsolutePath"
import { Config, decode } from "./ConfigSchema.ts"
import { type ConfigFault, faultAt } from "./ConfigFault.ts"
import { applyRecord, type ConfigTree, isEmpty } from "./ConfigTree.ts"
import { contextWindowOf } from "@colloquy/core/turn/ModelFamily"
import { findProvider, misspeltProviderKey, own } from "./ProviderSettings.ts"
import { misspeltRoutingKey } from "./RoutingKeys.ts"
import { toolSettings } from "./ToolSettings.ts"

/** Everything that does not depend on the conversation. */
export interface ResolveSource {
  /** `config.toml` with the `-c` edits laid on it. */
  readonly tree: ConfigTree
  /** Keys of its top level that options of the command line set: a profile replaces them only if the client selects it. */
  readonly flagKeys?: ReadonlySet<string>
  /** An entry of the same id in `model_providers` does not replace one of these (§7.3). */
  readonly builtinProviders: ReadonlyArray<ModelProvider>
  /** The provider where `model_provider` names none. */
  readonly defaultProvider: string
  /** Why that one cannot answer, and what to configure: the error of a conversation that would be created with it. */
  readonly unconfigured?: string
  /** The directory of the process, absolute. */
  readonly cwd: string
  /** The person's login shell, where it is one that the model is told of. */
  readonly shell?: "bash" | "zsh"
}

/** Where no `model` is configured; a provider that is not named here gets the original's default (§7.2). */
const defaultModels: ReadonlyMap<string, string> = new Map([
  ["offline", "offline"],
  ["oss", "gpt-oss:20b"],
])

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

const faulty = ({ key, message }: ConfigFault) => fail(message, key)

const isDefined = (value: unknown): boolean => value !== undefined && value !== null

const offline = "offline"

/** The model `offline` is a request for the offline provider, unless a provider is configured that may have its own. */
const providerOf = (
  source: ResolveSource,
  overrides: SettingsOverrides,
  config: Config,
): Result.Result<ModelProvider, SettingsError> => {
  const isOffline = (overrides.model ?? config.model) === offline
  const requested =
    overrides.stored?.provider ??
    config.model_provider ??
    (isOffline && source.builtinProviders.some((one) => one.id === offline) ? offline : undefined)
  if (requested === undefined && overrides.requiresProvider === true) {
    if (source.unconfigured !== undefined) return fail(source.unconfigured, "model_provider")
  }
  const id = requested ?? source.defaultProvider
  const found = findProvider(source.builtinProviders, config, id)
  if (found === undefined) return fail(`Model provider \`${id}\` not found`, "model_provider")
  return Result.isFailure(found) ? faulty(found.failure) : Result.succeed(found.success)
}

/** Most people configure nothing: then there is nothing to read, and no reader is made while a client waits. */
const read = (tree: ConfigTree): Result.Result<Config, ConfigFault> =>
  isEmpty(tree) ? Result.succeed({}) : decode(Config, tree)

/** An argument of a call that names nothing. */
const emptyName = (overrides: SettingsOverrides): ConfigFault | undefined => {
  for (const name of ["model", "profile"] as const) {
    if (overrides[name]?.trim() === "") {
      return faultAt([name], "invalid value: string, expected a name that is not empty")
    }
  }
  return undefined
}

/** What the selected profile sets. Without this, a profile could allow more than `--sandbox` on the command line does. */
const profileOf = (
  { flagKeys }: ResolveSource,
  overrides: SettingsOverrides,
  config: Config,
): Result.Result<Partial<Config>, SettingsError> => {
  const name = overrides.profile ?? config.profile
  const profile = name === undefined ? {} : own(config.profiles, name)
  if (profile === undefined) return fail(`config profile \`${name}\` not found`, "profile")
  const isOfClient = overrides.profile !== undefined || isDefined(own(overrides.config, "profile"))
  if (isOfClient || flagKeys === undefined) return Result.succeed(profile)
  return Result.succeed(
    Object.fromEntries(Object.entries(profile).filter(([key]) => !flagKeys.has(key))),
  )
}

/**
 * The settings of one conversation. Precedence, low to high: default, top level of the tree with the edits of
 * `overrides.config`, the selected profile, the other overrides. A profile therefore wins over an edit of the
 * top level, as in the original (§7.1), but not over an option of the command line.
 */
export const resolve = (
  source: ResolveSource,
  overrides: SettingsOverrides,
): Result.Result<ConversationSettings, SettingsError> => {
  const unnamed = emptyName(overrides)
  if (unnamed !== undefined) return fail(unnamed.message)
  const tree = applyRecord(source.tree, overrides.config ?? {})
  if (Result.isFailure(tree)) return fail(tree.failure)
  const decoded = read(tree.success)
  if (Result.isFailure(decoded)) return faulty(decoded.failure)
  const misspelt = misspeltProviderKey(tree.success) ?? misspeltRoutingKey(tree.success)
  if (misspelt !== undefined) return faulty(misspelt)
  const config = decoded.success

  const profile = profileOf(source, overrides, config)
  if (Result.isFailure(profile)) return Result.fail(profile.failure)
  const chosen = { ...config, ...profile.success }
  const provider = providerOf(source, overrides, chosen)
  if (Result.isFailure(provider)) return Result.fail(provider.failure)

  const tools = toolSettings(chosen)
  if (Result.isFailure(tools)) return faulty(tools.failure)
  const settled = settle({ source, overrides, config: chosen, provider: provider.success })
  const settings = { ...settled, ...tools.success }
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
    ...(config.model_supports_reasoning_summaries === undefined
      ? {}
      : { supportsReasoning: config.model_supports_reasoning_summaries }),
    contextWindow: config.model_context_window ?? contextWindowOf(model),
    showRawReasoning: config.show_raw_agent_reasoning ?? false,
  }
}

/** The port over a fixed source: for an embedding application, and for the CLI once it has read its files. */
export const layer = (source: ResolveSource): Layer.Layer<SettingsResolver> =>
  Layer.succeed(SettingsResolver, {
    resolve: (overrides) => Effect.fromResult(resolve(source, overrides)),
  })
