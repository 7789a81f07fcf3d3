/** The settings one conversation runs with, fully resolved, and the port that resolves them. */
import type {
  ApprovalQuestions,
  AskForApproval,
  CollaborationMode,
  ReasoningEffort,
  ReasoningSummary,
  SandboxMode,
  SandboxPolicy,
  ToolServerApproval,
  Verbosity,
} from "@colloquy/protocol/Policy"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Unattended } from "./approvals/Approval.ts"
import type { ClientTool } from "./ClientTool.ts"
import type { ModelProvider } from "./ModelClient.ts"
import type { StoredSettings } from "./StoredSettings.ts"

/** The settings of one conversation, fully resolved. */
export interface ConversationSettings {
  /** Name of the model at its provider. */
  readonly model: string
  readonly provider: ModelProvider
  /** Working directory. Absolute. */
  readonly cwd: string
  readonly approvalPolicy: AskForApproval
  /** Which questions the policy allows. Default: all. */
  readonly approvalQuestions?: ApprovalQuestions
  readonly sandboxPolicy: SandboxPolicy
  /** Replaces the built-in system instructions. */
  readonly baseInstructions?: string
  /** Absolute path of a file with base instructions. The resolver reads it into `baseInstructions` and removes this. */
  readonly baseInstructionsFile?: string
  /**
   * Path of a stored conversation whose history the new one begins with. The store decides which paths it accepts. Only
   * read when the conversation is created.
   */
  readonly resumePath?: string
  /**
   * Items of a history that another program has kept, with which the conversation begins. `resumePath` excludes it. Only read
   * when the conversation is created.
   */
  readonly history?: ReadonlyArray<ResponseItem>
  /** True: nothing of the conversation is stored, and it ends with the process. Only read when it is created. */
  readonly ephemeral?: boolean
  /** Added after the system instructions. */
  readonly developerInstructions?: string
  /** How the agent works with the person. Default: mode `default`, which has no instructions of its own. */
  readonly collaborationMode?: {
    readonly mode: CollaborationMode
    /** Replaces the built-in instructions of the mode. */
    readonly developerInstructions?: string
  }
  /** Replaces the built-in instructions for a summary of the history. */
  readonly compactPrompt?: string
  /** Size of a request in tokens at which the history is summarised; 0 means never. Default 80 % of `contextWindow`. */
  readonly autoCompactTokenLimit?: number
  /** Offer `update_plan`. */
  readonly includePlanTool: boolean
  /** Reasoning effort. Not sent to a model without reasoning. */
  readonly effort?: ReasoningEffort
  /** Kind of the reasoning summaries. Not sent to a model without reasoning. */
  readonly summary: ReasoningSummary
  /** Whether the model has reasoning. Default: by the family of the model (`turn/ModelFamily.ts`). */
  readonly supportsReasoning?: boolean
  readonly verbosity?: Verbosity
  /** Context window of the model in tokens; null when it is not known. */
  readonly contextWindow: number | null
  /** JSON Schema that the answer of the running or last turn has to match. Set by the submission that starts a turn. */
  readonly outputSchema?: unknown
  /** Emit `agent_reasoning_raw_content` events and their deltas. */
  readonly showRawReasoning: boolean
  /**
   * Time between the request that a process ends and its kill. The terminal event of an interrupted turn follows at most
   * one second plus this time after the interrupt (L14). Default 500 ms.
   */
  readonly killGrace?: Duration.Duration
  /** How long a question waits for an answer before it is denied. Default 10 minutes. */
  readonly approvalDeadline?: Duration.Duration
  /** What decides a question while no listener can answer it. Default `deny`. */
  readonly unattended?: Unattended
  /**
   * What happens to a turn whose process ended during it. `close`, the default, ends it with `turn_aborted`; `continue`
   * resumes it. A turn that only waits for answers keeps waiting in both cases.
   */
  readonly onRestart?: "close" | "continue"
  /**
   * False: the model is told neither the working directory nor how commands are confined, which it has no use for without
   * tools of the machine. Default true.
   */
  readonly includeEnvironmentContext?: boolean
  /** The user's login shell, as the first environment context names it for the model. */
  readonly shell?: "bash" | "zsh"
  /** Which environment variables commands see. Default: all except names that look like secrets. */
  readonly shellEnvironment?: ShellEnvironment
  /** Environment variables that hold keys of providers and tool servers, by the configuration. No command sees them. */
  readonly secretNames?: ReadonlyArray<string>
  /** True: commands run in the user's login shell with its profile (`experimental_use_profile`). */
  readonly useLoginShell?: boolean
  /** Offer `apply_patch`. Default: by the family of the model. */
  readonly includeApplyPatchTool?: boolean
  /** Offer `view_image`. Default true. */
  readonly includeViewImageTool?: boolean
  /** Offer the provider's own search of the web. Default false. */
  readonly includeWebSearchTool?: boolean
  /** Offer `request_user_input` in every mode. Default false: in plan mode only. */
  readonly includeUserInputTool?: boolean
  /** Tool servers by name, which matches `^[a-zA-Z0-9_-]+$`. */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** When tools of those tool servers need an approval whose configuration does not say. Default `approve`. */
  readonly toolServerApproval?: ToolServerApproval
  /** Tools that the clients of the conversation run. */
  readonly clientTools?: ReadonlyArray<ClientTool>
  /** Text of the AGENTS.md files, read when the conversation was created. */
  readonly userInstructions?: string
  /** Most bytes that are read of AGENTS.md files; 0 reads none. Default 32,768. */
  readonly projectDocMaxBytes?: number
}

/** Which variables of the server's environment commands see. They never see keys of providers. */
export interface ShellEnvironment {
  /** `core`: only variables such as `PATH`, `HOME` and `LANG`. */
  readonly inherit: "all" | "core" | "none"
  /** True: names that look like secrets are not excluded. */
  readonly ignoreDefaultExcludes: boolean
  /** Patterns of names to exclude, with `*` and `?`; case does not matter. */
  readonly exclude: ReadonlyArray<string>
  /** Variables to add or replace. */
  readonly set: Readonly<Record<string, string>>
  /** Patterns of names to keep; when there are any, all other names are excluded. */
  readonly includeOnly: ReadonlyArray<string>
}

/** How a tool server is reached, and when its tools may be called. */
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
        /** Name of the environment variable that holds the bearer token. */
        readonly bearerTokenEnv?: string
      }
  /** Longest wait for the handshake and the list of tools. */
  readonly startupTimeout: Duration.Duration
  /** Longest run of one call. */
  readonly toolTimeout: Duration.Duration
  /** When its tools need an approval. Default: `toolServerApproval` of the conversation. */
  readonly approval?: ToolServerApproval
}

/** What a client may set for one conversation. Everything else comes from the configuration. */
export interface SettingsOverrides {
  readonly model?: string
  /** Name of a profile of the configuration. */
  readonly profile?: string
  /** Working directory; a relative path is resolved against the directory of the process. */
  readonly cwd?: string
  readonly approvalPolicy?: AskForApproval
  readonly sandbox?: SandboxMode
  /** Overrides of configuration keys, by dotted path. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly baseInstructions?: string
  readonly developerInstructions?: string
  readonly compactPrompt?: string
  /** Offer `update_plan`. */
  readonly includePlanTool?: boolean
  /** True for a conversation that is about to be created: no configured provider is an error then. */
  readonly requiresProvider?: boolean
  /**
   * Settings that were stored with a conversation. They apply, with the provider of that id as it is configured now; a
   * provider that is not configured is an error whose `key` is `model_provider`.
   */
  readonly stored?: StoredSettings
}

/** The configuration is not valid. `message` names the key and what was expected. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", {
  message: Schema.String,
  /** The key at fault, dotted, where it is one. */
  key: Schema.optionalKey(Schema.String),
}) {}

/** Resolves the settings of a conversation from the configuration and the overrides of a client. */
export class SettingsResolver extends Context.Service<
  SettingsResolver,
  {
    /** Precedence, low to high: built-in values, file, profile, `-c` and `config`, the other overrides. */
    readonly resolve: (
      overrides: SettingsOverrides,
    ) => Effect.Effect<ConversationSettings, SettingsError>
  }
>()("@colloquy/core/SettingsResolver") {}
