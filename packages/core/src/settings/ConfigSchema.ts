/**
 * The keys of `config.toml` that are read here (§7.2, §7.3) and what their values may be. A key that is not named
 * is ignored, so that a file written for another generation of the original works; a bad value of a named key is an
 * error that tells the key.
 */
import {
  AskForApproval,
  ConfiguredSandboxMode,
  ReasoningEffort,
  ReasoningSummary,
  Verbosity,
} from "@colloquy/protocol/Policy"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { explain } from "./ConfigFault.ts"
import type { ConfigTree } from "./ConfigTree.ts"

/** Every number of the configuration is a count, a size or a time. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Seconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const optional = Schema.optionalKey
const strings = optional(Schema.Record(Schema.String, Schema.String))

/** One table under `model_providers` (§7.3). */
export const ProviderConfig = Schema.Struct({
  name: Schema.String,
  base_url: optional(Schema.String),
  env_key: optional(Schema.String),
  env_key_instructions: optional(Schema.String),
  wire_api: optional(Schema.Literals(["responses", "chat"])),
  query_params: strings,
  http_headers: strings,
  env_http_headers: strings,
  request_max_retries: optional(Count),
  stream_max_retries: optional(Count),
  /** Milliseconds. */
  stream_idle_timeout_ms: optional(Count),
  requires_openai_auth: optional(Schema.Boolean),
})
export type ProviderConfig = typeof ProviderConfig.Type

/** What a profile may set over the top level. `sandbox_mode` came with later generations. */
const profileKeys = {
  model: optional(Schema.String),
  model_provider: optional(Schema.String),
  approval_policy: optional(AskForApproval),
  sandbox_mode: optional(ConfiguredSandboxMode),
  model_reasoning_effort: optional(ReasoningEffort),
  model_reasoning_summary: optional(ReasoningSummary),
  model_verbosity: optional(Verbosity),
}

/** One table under `mcp_servers` (§7.2): a program, or a server reached over HTTP. */
export const McpServerConfig = Schema.Struct({
  command: optional(Schema.String),
  args: optional(Schema.Array(Schema.String)),
  env: strings,
  cwd: optional(Schema.String),
  url: optional(Schema.String),
  http_headers: strings,
  /** Name of the environment variable that holds the bearer token. */
  bearer_token_env_var: optional(Schema.String),
  startup_timeout_sec: optional(Seconds),
  startup_timeout_ms: optional(Count),
  tool_timeout_sec: optional(Seconds),
  enabled: optional(Schema.Boolean),
})
export type McpServerConfig = typeof McpServerConfig.Type

const ShellEnvironmentConfig = Schema.Struct({
  inherit: optional(Schema.Literals(["all", "core", "none"])),
  ignore_default_excludes: optional(Schema.Boolean),
  experimental_use_profile: optional(Schema.Boolean),
  exclude: optional(Schema.Array(Schema.String)),
  include_only: optional(Schema.Array(Schema.String)),
  set: strings,
})

export const Config = Schema.Struct({
  ...profileKeys,
  profile: optional(Schema.String),
  profiles: optional(Schema.Record(Schema.String, Schema.Struct(profileKeys))),
  model_providers: optional(Schema.Record(Schema.String, ProviderConfig)),
  sandbox_workspace_write: optional(
    Schema.Struct({
      writable_roots: optional(Schema.Array(Schema.String)),
      network_access: optional(Schema.Boolean),
      exclude_tmpdir_env_var: optional(Schema.Boolean),
      exclude_slash_tmp: optional(Schema.Boolean),
    }),
  ),
  /** Tokens. */
  model_context_window: optional(Count),
  show_raw_agent_reasoning: optional(Schema.Boolean),
  include_plan_tool: optional(Schema.Boolean),
  include_apply_patch_tool: optional(Schema.Boolean),
  tools: optional(Schema.Struct({ view_image: optional(Schema.Boolean) })),
  shell_environment_policy: optional(ShellEnvironmentConfig),
  mcp_servers: optional(Schema.Record(Schema.String, McpServerConfig)),
  /** Bytes of AGENTS.md files; 0 reads none. */
  project_doc_max_bytes: optional(Count),
  /** What decides where nobody can answer a question. */
  unattended: optional(Schema.Literals(["deny", "park"])),
  /** Seconds a question waits for its answer. */
  approval_timeout_sec: optional(Seconds),
})
export type Config = typeof Config.Type

/** Reads the keys that `schema` names; the error is two lines, as `ConfigFault` words them. */
export const decode = <S extends Schema.Codec<unknown, unknown>>(
  schema: S,
  tree: ConfigTree,
): Result.Result<S["Type"], string> =>
  Result.mapError(Schema.decodeResult(schema)(tree), (error) => explain(error.issue, tree))
