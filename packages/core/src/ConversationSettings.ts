/** The settings one conversation runs with, fully resolved, and the port that resolves them. */
import type {
  AskForApproval,
  ReasoningEffort,
  ReasoningSummary,
  SandboxMode,
  SandboxPolicy,
  Verbosity,
} from "@colloquy/protocol/Policy"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Unattended } from "./approvals/Approval.ts"
import type { ModelProvider } from "./ModelClient.ts"
import type { StoredSettings } from "./StoredSettings.ts"

export interface ConversationSettings {
  readonly model: string
  readonly provider: ModelProvider
  /** Absolute. */
  readonly cwd: string
  readonly approvalPolicy: AskForApproval
  readonly sandboxPolicy: SandboxPolicy
  /** Replaces the built-in system instructions. */
  readonly baseInstructions?: string
  /** Absolute; whoever gives out settings has read it into `baseInstructions` and left this out. */
  readonly baseInstructionsFile?: string
  /**
   * Path of the stored conversation that a new one begins with the history of; the store says which paths it accepts. Only
   * read when the conversation is made.
   */
  readonly resumePath?: string
  /** Added after the system instructions. */
  readonly developerInstructions?: string
  /** Replaces the built-in instructions for a summary of the history. */
  readonly compactPrompt?: string
  /** Tokens of a request from which on the history is summarised; 0: never. Default 80 % of `contextWindow`. */
  readonly autoCompactTokenLimit?: number
  readonly includePlanTool: boolean
  /** Not sent to a model without reasoning. */
  readonly effort?: ReasoningEffort
  /** Not sent to a model without reasoning. */
  readonly summary: ReasoningSummary
  /** Whether the model has reasoning. Default: as the family of the model has it (`settings/ModelFamily.ts`). */
  readonly supportsReasoning?: boolean
  readonly verbosity?: Verbosity
  /** In tokens; null when the model is not known (§6.11). */
  readonly contextWindow: number | null
  /** Send `agent_reasoning_raw_content*` events. */
  readonly showRawReasoning: boolean
  /**
   * What a process may take between being asked to end and being killed. An interrupted turn is told of as over one
   * second and this time after the interrupt, at the latest (L14). Default 500 ms.
   */
  readonly killGrace?: Duration.Duration
  /** How long a question waits for its answer; then it is denied. Default 10 minutes. */
  readonly approvalDeadline?: Duration.Duration
  /** What decides while no listener can answer. Default `deny`. */
  readonly unattended?: Unattended
  /**
   * What becomes of a turn that the death of its process cut off. Default `close`: it is told to be aborted. One that only
   * waits for answers goes on waiting either way.
   */
  readonly onRestart?: "close" | "continue"
  /** The person's login shell, as the model is told of it at the beginning (§6.2). */
  readonly shell?: "bash" | "zsh"
  /** Default: everything but names that look like secrets. */
  readonly shellEnvironment?: ShellEnvironment
  /** Environment variables that the configuration names as keys of providers and tool servers: no command sees them. */
  readonly secretNames?: ReadonlyArray<string>
  /** True: commands run in the person's login shell with its profile (`experimental_use_profile`). */
  readonly useLoginShell?: boolean
  /** Offer `apply_patch`; absent: as the family of the model has it (§6.11). */
  readonly includeApplyPatchTool?: boolean
  /** Offer `view_image`. Default true. */
  readonly includeViewImageTool?: boolean
  /** Offer the provider's own search of the web. Default false. */
  readonly includeWebSearchTool?: boolean
  /** By name, which matches `^[a-zA-Z0-9_-]+$`. */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** Text of the AGENTS.md files, read when the conversation was made (§6.10). */
  readonly userInstructions?: string
  /** Bytes of AGENTS.md files; 0 reads none. Default 32,768. */
  readonly projectDocMaxBytes?: number
}

/** What of the server's environment commands see (§6.12); provider keys never. */
export interface ShellEnvironment {
  readonly inherit: "all" | "core" | "none"
  /** True: names that look like secrets stay in. */
  readonly ignoreDefaultExcludes: boolean
  /** Patterns with `*` and `?`, whatever the case. */
  readonly exclude: ReadonlyArray<string>
  readonly set: Readonly<Record<string, string>>
  /** Not empty: nothing else stays. */
  readonly includeOnly: ReadonlyArray<string>
}

/** How a tool server is reached. */
export interface McpServer {
  readonly transport:
    | {
        readonly _tag: "Stdio"
        readonly command: string
        readonly args: ReadonlyArray<string>
        readonly env: Readonly<Record<string, string>>
        readonly cwd?: string
      }
    | {
        readonly _tag: "Http"
        readonly url: string
        readonly headers: Readonly<Record<string, string>>
        /** Name of an environment variable. */
        readonly bearerTokenEnv?: string
      }
  readonly startupTimeout: Duration.Duration
  readonly toolTimeout: Duration.Duration
}

/** What a client may set for one conversation; everything else comes from configuration. */
export interface SettingsOverrides {
  readonly model?: string
  readonly profile?: string
  /** A relative path is taken from the directory of the process. */
  readonly cwd?: string
  readonly approvalPolicy?: AskForApproval
  readonly sandbox?: SandboxMode
  /** Dotted paths into the configuration tree (§7.4). */
  readonly config?: Readonly<Record<string, unknown>>
  readonly baseInstructions?: string
  readonly developerInstructions?: string
  readonly compactPrompt?: string
  readonly includePlanTool?: boolean
  /** True for a conversation that is about to be created: without a configured provider that is an error. */
  readonly requiresProvider?: boolean
  /**
   * Of a conversation that another process made: these hold, with the provider of that id as it is configured now. A
   * provider that is not configured any more is an error whose `key` is `model_provider`.
   */
  readonly stored?: StoredSettings
}

/** The configuration does not make sense; `message` names the key and what was expected. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  message: Schema.String,
  /** The key at fault, dotted, where it is one. */
  key: Schema.optionalKey(Schema.String),
}) {}

export class SettingsResolver extends Context.Service<
  SettingsResolver,
  {
    /** Precedence, low to high: built in, file, profile, `-c` and `config`, the other overrides (§7.1). */
    readonly resolve: (
      overrides: SettingsOverrides,
    ) => Effect.Effect<ConversationSettings, SettingsError>
  }
>()("@colloquy/core/SettingsResolver") {}
