/**
 * Resolves a configuration tree and a client's overrides to the settings of one conversation:
 * precedence, defaults, provider. A pure function; `layer` provides it as the port
 * `SettingsResolver`. Precedence and defaults are those of the original; see
 * `packages/docs/wire/config.md`.
 *
 * Never reads a file or the environment: the tree, the built-in providers and the directory are
 * arguments.
 */
import type { ConfiguredSandboxMode, SandboxPolicy } from "@colloquy/protocol/Policy"
import { unknownKey } from "@colloquy/protocol/UnknownKey"
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
import { approvalSettings } from "./ApprovalPolicy.ts"
import { Config, decode } from "./ConfigSchema.ts"
import { type ConfigFault, faultAt } from "./ConfigFault.ts"
import { applyRecord, type ConfigTree, isEmpty } from "./ConfigTree.ts"
import { contextWindowOf } from "@colloquy/core/turn/ModelFamily"
import { findProvider, misspeltProviderKey, ownValue } from "./ProviderSettings.ts"
import { misspeltRoutingKey } from "./RoutingKeys.ts"
import { toolSettings } from "./ToolSettings.ts"

/** Everything that does not depend on the conversation. */
export interface ResolveSource {
  /** `config.toml` with the `-c` overrides set in it. */
  readonly tree: ConfigTree
  /**
   * Keys of the tree's top level that command-line options other than `-c` set. A profile replaces
   * them only when the client selects the profile.
   */
  readonly flagKeys?: ReadonlySet<string>
  /** Providers that an entry with the same id in `model_providers` does not replace. */
  readonly builtinProviders: ReadonlyArray<ModelProvider>
  /** Id of the provider when `model_provider` names none. */
  readonly defaultProvider: string
  /**
   * Why the default provider cannot be used, and what to configure: the error of a new conversation
   * that would use it.
   */
  readonly missingProviderMessage?: string
  /** The working directory of the process, absolute. */
  readonly cwd: string
  /** The user's login shell, if it is one that the model is informed about. */
  readonly shell?: "bash" | "zsh"
}

/** The model when none is configured, by provider. Other providers get the original's default. */
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

const failWithFault = ({ key, message }: ConfigFault) => fail(message, key)

const isDefined = (value: unknown): boolean => value !== undefined && value !== null

const offline = "offline"

/**
 * Selects the provider. The model name `offline` selects the offline provider, unless another
 * provider is configured, which may have a model of that name.
 */
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
    if (source.missingProviderMessage !== undefined)
      return fail(source.missingProviderMessage, "model_provider")
  }
  const id = requested ?? source.defaultProvider
  const found = findProvider(source.builtinProviders, config, id)
  if (found === undefined) return fail(`Model provider \`${id}\` not found`, "model_provider")
  return Result.isFailure(found) ? failWithFault(found.failure) : Result.succeed(found.success)
}

/** Most users configure nothing: then no schema decoder is built while a client waits. */
const decodeConfig = (tree: ConfigTree): Result.Result<Config, ConfigFault> =>
  isEmpty(tree) ? Result.succeed({}) : decode(Config, tree)

/** The fault of a call's argument that is an empty name. */
const emptyNameFault = (overrides: SettingsOverrides): ConfigFault | undefined => {
  for (const name of ["model", "profile"] as const) {
    if (overrides[name]?.trim() === "") {
      return faultAt([name], "invalid value: string, expected a name that is not empty")
    }
  }
  return undefined
}

/**
 * The keys that the selected profile sets. A profile from the file does not replace keys that
 * command-line options set; otherwise it could allow more than `--sandbox` on the command line
 * does.
 */
const profileOf = (
  { flagKeys }: ResolveSource,
  overrides: SettingsOverrides,
  config: Config,
): Result.Result<Partial<Config>, SettingsError> => {
  const name = overrides.profile ?? config.profile
  const profile = name === undefined ? {} : ownValue(config.profiles, name)
  if (profile === undefined) return fail(`config profile \`${name}\` not found`, "profile")
  const isOfClient =
    overrides.profile !== undefined || isDefined(ownValue(overrides.config, "profile"))
  if (isOfClient || flagKeys === undefined) return Result.succeed(profile)
  return Result.succeed(
    Object.fromEntries(Object.entries(profile).filter(([key]) => !flagKeys.has(key))),
  )
}

/**
 * The settings of one conversation. Precedence from low to high: default, top level of the tree
 * with the edits of `overrides.config`, selected profile, other overrides. A profile therefore wins
 * over an edit of the top level, as in the original, but not over a command-line option.
 */
export const resolve = (
  source: ResolveSource,
  overrides: SettingsOverrides,
): Result.Result<ConversationSettings, SettingsError> => {
  const unnamed = emptyNameFault(overrides)
  if (unnamed !== undefined) return failWithFault(unnamed)
  const tree = applyRecord(source.tree, overrides.config ?? {})
  if (Result.isFailure(tree)) return fail(tree.failure)
  const decoded = decodeConfig(tree.success)
  if (Result.isFailure(decoded)) return failWithFault(decoded.failure)
  const misspelt = misspeltProviderKey(tree.success) ?? misspeltRoutingKey(tree.success)
  if (misspelt !== undefined) return failWithFault(misspelt)
  const config = decoded.success

  const profile = profileOf(source, overrides, config)
  if (Result.isFailure(profile)) return Result.fail(profile.failure)
  const chosen = { ...config, ...profile.success }
  const provider = providerOf(source, overrides, chosen)
  if (Result.isFailure(provider)) return Result.fail(provider.failure)

  const tools = toolSettings(chosen)
  if (Result.isFailure(tools)) return failWithFault(tools.failure)
  const settled = settingsFrom({ source, overrides, config: chosen, provider: provider.success })
  const settings = { ...settled, ...tools.success }
  const { stored } = overrides
  return Result.succeed(stored === undefined ? settings : withStored(settings, stored))
}

/** When and how the history is summarized. */
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

/** What the model is instructed with, and the stored conversation that the history starts with. */
const instructions = (
  overrides: SettingsOverrides,
  config: Config,
  cwd: string,
): Pick<
  ConversationSettings,
  "baseInstructions" | "baseInstructionsFile" | "developerInstructions" | "resumePath"
> => {
  const { baseInstructions, developerInstructions } = overrides
  const { experimental_instructions_file: file, experimental_resume: resumePath } = config
  return {
    ...(baseInstructions === undefined ? {} : { baseInstructions }),
    ...(file === undefined ? {} : { baseInstructionsFile: resolvePath(cwd, file) }),
    ...(resumePath === undefined || resumePath === "" ? {} : { resumePath }),
    ...(developerInstructions === undefined ? {} : { developerInstructions }),
  }
}

/** How much the model reasons and writes, and what of its reasoning is delivered. */
const verbosity = (
  config: Config,
): Pick<
  ConversationSettings,
  "effort" | "summary" | "verbosity" | "supportsReasoning" | "showRawReasoning"
> => {
  const {
    model_reasoning_effort: effort,
    model_supports_reasoning_summaries: supportsReasoning,
    model_verbosity: verbosity,
  } = config
  return {
    ...(effort === undefined ? {} : { effort }),
    summary: config.model_reasoning_summary ?? "auto",
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(supportsReasoning === undefined ? {} : { supportsReasoning }),
    showRawReasoning: config.show_raw_agent_reasoning ?? false,
  }
}

const settingsFrom = (choice: {
  readonly source: ResolveSource
  readonly overrides: SettingsOverrides
  readonly config: Config
  readonly provider: ModelProvider
}): ConversationSettings => {
  const { source, overrides, config, provider } = choice
  const cwd = resolvePath(source.cwd, overrides.cwd ?? "")
  const model = overrides.model ?? config.model ?? defaultModels.get(provider.id) ?? "gpt-5"
  const sandbox = overrides.sandbox ?? config.sandbox_mode ?? "read-only"
  return {
    model,
    provider,
    cwd,
    ...approvalSettings(overrides.approvalPolicy ?? config.approval_policy ?? "on-request"),
    sandboxPolicy: sandboxPolicyOf(sandbox, config, source.cwd),
    ...instructions(overrides, config, cwd),
    ...compaction(overrides, config),
    ...(source.shell === undefined ? {} : { shell: source.shell }),
    includePlanTool: overrides.includePlanTool ?? config.include_plan_tool ?? false,
    ...verbosity(config),
    contextWindow: config.model_context_window ?? contextWindowOf(model),
  }
}

const sourceKeys: ReadonlyArray<keyof ResolveSource> = [
  "tree",
  "flagKeys",
  "builtinProviders",
  "defaultProvider",
  "missingProviderMessage",
  "cwd",
  "shell",
]

const checkSource = (source: ResolveSource): void => {
  const found = unknownKey(source, sourceKeys)
  if (found === undefined) return
  throw new TypeError(`Resolve.layer: unknown option \`${found.key}\`; ${found.hint}`)
}

/**
 * Layer of the port over a fixed source: for an embedding application, and for the CLI once it has
 * read its files. Throws a `TypeError` for an option that does not exist.
 */
export const layer = (source: ResolveSource): Layer.Layer<SettingsResolver> => {
  checkSource(source)
  return Layer.succeed(SettingsResolver, {
    resolve: Effect.fn("SettingsResolver.resolve")((overrides: SettingsOverrides) =>
      Effect.fromResult(resolve(source, overrides)),
    ),
  })
}
