/**
 * All keys of `config.toml` with their types, defaults and meanings; the tables of providers and
 * tool servers are in `ConfigServers.ts`. A key that is not named here is ignored, so that a file
 * written for another version of the original works. An invalid value of a named key is an error
 * that names the key, also when the key has no meaning here. The keys are described in
 * `packages/docs/wire/config.md`.
 */
import {
  ConfiguredSandboxMode,
  ReasoningEffort,
  ReasoningSummary,
  Verbosity,
} from "@colloquy/protocol/Policy"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ConfiguredApprovalPolicy } from "./ApprovalPolicy.ts"
import { type ConfigFault, faultOfIssue, faultsOfIssue } from "./ConfigFault.ts"
import { Count, key, keyOr, Name, Seconds, Strings, StringTable } from "./KeySchemas.ts"
import { McpServerConfig, ProviderConfig } from "./ConfigServers.ts"
import type { ConfigTree } from "./ConfigTree.ts"

export type { McpServerConfig, ProviderConfig } from "./ConfigServers.ts"

const unused = (what: string) => `${what} Read and not used here.`

/**
 * The keys that a profile may set instead of the top level. `sandbox_mode` came with later versions
 * of the original.
 */
const profileKeys = {
  model: keyOr(Name, "gpt-5", "The model."),
  model_provider: keyOr(
    Name,
    "openai",
    "Provider of the model: a built-in one, or one of `model_providers`.",
  ),
  approval_policy: keyOr(
    ConfiguredApprovalPolicy,
    "on-request",
    "When a person is asked before a command runs or a file changes; `granular`: as with `on-request`, without the questions that are switched off.",
  ),
  sandbox_mode: keyOr(ConfiguredSandboxMode, "read-only", "What commands and edits may touch."),
  model_reasoning_effort: key(
    ReasoningEffort,
    "How much the model thinks; sent on the Responses wire only, to models with reasoning.",
  ),
  model_reasoning_summary: keyOr(
    ReasoningSummary,
    "auto",
    "How detailed the summaries of reasoning are.",
  ),
  model_verbosity: key(Verbosity, "How long the model's answers are."),
  chatgpt_base_url: keyOr(
    Schema.String,
    "https://chatgpt.com/backend-api/",
    "Address for requests with the tokens of a login.",
  ),
  experimental_instructions_file: key(
    Schema.String,
    "File whose text replaces the built-in system instructions; relative to the working directory.",
  ),
}

const off = (description: string) => keyOr(Schema.Boolean, false, description)

const ShellEnvironmentConfig = Schema.Struct({
  inherit: keyOr(Schema.Literals(["all", "core", "none"]), "all", "What commands inherit."),
  ignore_default_excludes: off(
    "True: variables whose name or value looks like a secret are inherited, too.",
  ),
  experimental_use_profile: off("True: commands run in the login shell with its profile."),
  exclude: keyOr(Strings, [], "Patterns of names that are left out."),
  include_only: keyOr(
    Strings,
    [],
    "Patterns of names; if there are any, all other variables are left out.",
  ),
  set: key(StringTable, "Variables that are added, also if a pattern leaves them out."),
})

const WorkspaceWriteConfig = Schema.Struct({
  writable_roots: keyOr(
    Strings,
    [],
    "Directories that may be written besides the working directory, to which relative ones belong.",
  ),
  network_access: off("True: commands may use the network."),
  exclude_tmpdir_env_var: off("True: `$TMPDIR` may not be written."),
  exclude_slash_tmp: off("True: `/tmp` may not be written."),
})

const modelKeys = {
  review_model: keyOr(Schema.String, "gpt-5-codex", unused("The model of reviews.")),
  model_context_window: key(Count, "Tokens that go into one request; default by the model."),
  model_max_output_tokens: key(Count, unused("Largest number of tokens in one answer.")),
  model_auto_compact_token_limit: key(
    Count,
    "Number of tokens in a request from which on the history is summarized; 0: never. Default: 80 % of the window.",
  ),
  compact_prompt: key(Schema.String, "Replaces the instructions for a summary of the history."),
  model_supports_reasoning_summaries: key(
    Schema.Boolean,
    "Whether the model has reasoning, so that effort and summary are sent; default by the model.",
  ),
  model_reasoning_summary_format: key(
    Schema.Literals(["none", "experimental"]),
    unused("Format of summaries."),
  ),
}

const conversationKeys = {
  hide_agent_reasoning: off(unused("Hides reasoning in a terminal interface.")),
  show_raw_agent_reasoning: off(
    "True: events contain the model's full reasoning, not only its summary.",
  ),
  instructions: key(Schema.String, unused("AGENTS.md files are used instead.")),
  experimental_resume: key(
    Schema.String,
    "Absolute path of a stored conversation whose history every new conversation begins with; empty: none.",
  ),
  project_doc_max_bytes: keyOr(
    Count,
    32_768,
    "Bytes of AGENTS.md files that are sent to the model; 0: none.",
  ),
  include_plan_tool: off("Offers `update_plan`."),
  include_apply_patch_tool: key(Schema.Boolean, "Offers `apply_patch`; default by the model."),
  tools: key(
    Schema.Struct({
      view_image: keyOr(Schema.Boolean, true, "Offers `view_image`."),
      web_search: off("Offers the provider's own search of the web, on the Responses wire."),
      web_search_request: key(Schema.Boolean, "Another name of `web_search`."),
      request_user_input: off(
        "Offers `request_user_input`, with which the agent asks the user, also outside plan mode.",
      ),
    }),
    "Which tools are offered.",
  ),
  history: key(
    Schema.Struct({
      persistence: keyOr(
        Schema.Literals(["save-all", "none"]),
        "save-all",
        "Whether messages of the user are stored in `history.jsonl`.",
      ),
      max_bytes: key(Count, unused("Largest size of that file.")),
    }),
    "The history of messages.",
  ),
  unattended: keyOr(
    Schema.Literals(["deny", "park"]),
    "deny",
    "What happens to a question that no client can be asked: it is denied, or it waits for a client; its deadline starts when it is asked.",
  ),
  on_restart: keyOr(
    Schema.Literals(["close", "continue"]),
    "close",
    "What happens to a turn that was running when the process ended: it is aborted, or continued.",
  ),
  approval_timeout_sec: keyOr(
    Seconds,
    600,
    "Seconds after which an unanswered question is denied.",
  ),
}

const programKeys = {
  notify: key(
    Strings,
    "Program and arguments, started after each completed turn with a JSON text as the last argument. Only `config.toml` may set it.",
  ),
  file_opener: keyOr(
    Schema.Literals(["vscode", "vscode-insiders", "windsurf", "cursor", "none"]),
    "vscode",
    unused("Program that links to files open in."),
  ),
  tui: key(
    Schema.Struct({
      notifications: keyOr(
        Schema.Union([Schema.Boolean, Strings]),
        false,
        unused("Desktop notifications of a terminal interface."),
      ),
    }),
    "The terminal interface of the original.",
  ),
  projects: key(
    Schema.Record(
      Schema.String,
      Schema.Struct({
        trust_level: key(
          Schema.Literals(["trusted", "untrusted"]),
          unused("Whether the directory is trusted."),
        ),
      }),
    ),
    "Directories by path.",
  ),
  experimental_use_exec_command_tool: off(unused("A tool of the original.")),
  experimental_use_unified_exec_tool: off(unused("A tool of the original.")),
  disable_paste_burst: off(unused("Terminal interface.")),
  disable_response_storage: off(unused("First versions of the original.")),
}

/** The schema of `config.toml`. */
export const Config = Schema.Struct({
  ...profileKeys,
  profile: key(Name, "The table of `profiles` whose keys take precedence over the top level."),
  profiles: key(Schema.Record(Schema.String, Schema.Struct(profileKeys)), "Profiles by name."),
  model_providers: key(Schema.Record(Schema.String, ProviderConfig), "Providers by id."),
  mcp_servers: key(Schema.Record(Schema.String, McpServerConfig), "Tool servers by name."),
  sandbox_workspace_write: key(WorkspaceWriteConfig, "What `workspace-write` allows in addition."),
  shell_environment_policy: key(ShellEnvironmentConfig, "The environment of commands."),
  ...modelKeys,
  ...conversationKeys,
  ...programKeys,
})
/** The values of `config.toml`, as far as they are set. */
export type Config = typeof Config.Type

/** Decodes the keys that `schema` names and ignores all others. */
export const decode = <S extends Schema.Codec<unknown, unknown>>(
  schema: S,
  tree: ConfigTree,
): Result.Result<S["Type"], ConfigFault> =>
  Result.mapError(Schema.decodeResult(schema)(tree), (error) => faultOfIssue(error.issue, tree))

/** Every fault that decoding with `schema` finds, in its order; `decode` fails with the first. */
export const faultsOf = (
  schema: Schema.Codec<unknown, unknown>,
  tree: ConfigTree,
): ReadonlyArray<ConfigFault> =>
  Result.match(Schema.decodeResult(schema, { errors: "all" })(tree), {
    onSuccess: () => [],
    onFailure: ({ issue }) => faultsOfIssue(issue, tree),
  })
