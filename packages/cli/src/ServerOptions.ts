/** The keys of the configuration that only the server process has; `config.toml` and `-c` may set them. */
import { Config, Count, decode } from "@colloquy/core/settings/ConfigSchema"
import type { ConfigTree } from "@colloquy/core/settings/ConfigTree"
import { nearest } from "@colloquy/protocol/Nearest"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const ServerOptions = Schema.Struct({
  offline: Schema.optionalKey(
    Schema.Struct({
      /** Path of a JSON file, from the directory of the process. */
      script: Schema.optionalKey(Schema.String),
      delta_delay_ms: Schema.optionalKey(Count),
    }),
  ),
  shutdown_grace_ms: Schema.optionalKey(Count),
  /** How the events of a turn are sent beside its result. */
  mcp_events: Schema.optionalKey(Schema.Literals(["on", "off", "twice"])),
})
export type ServerOptions = typeof ServerOptions.Type

export const serverOptions = (tree: ConfigTree): Result.Result<ServerOptions, string> =>
  decode(ServerOptions, tree)

/** Keys of the original that are read nowhere here (§7.2): no misspellings of ours. */
const foreign = [
  "chatgpt_base_url",
  "file_opener",
  "hide_agent_reasoning",
  "history",
  "instructions",
  "mcp_servers",
  "model_auto_compact_token_limit",
  "model_max_output_tokens",
  "model_reasoning_summary_format",
  "model_supports_reasoning_summaries",
  "notify",
  "project_doc_max_bytes",
  "projects",
  "review_model",
  "shell_environment_policy",
  "tools",
  "tui",
]
const known = [...foreign, ...Object.keys(Config.fields), ...Object.keys(ServerOptions.fields)]

/**
 * The known key nearest to a `-c` argument's first one, when nobody here knows that. Unknown keys are ignored (§7.1),
 * since they may be meant for the original, but a misspelt one should not vanish without a word.
 */
export const misspelt = (
  argument: string,
): { readonly key: string; readonly near: string } | undefined => {
  const key = argument.split(/[.=]/, 1)[0]?.trim() ?? ""
  const near = known.includes(key) ? undefined : nearest(key, known)
  return near === undefined ? undefined : { key, near }
}
