/**
 * The tables of the configuration that name a program or host to connect to: model providers and
 * tool servers.
 */
import { ToolServerApproval } from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import { Count, key, keyOr, Seconds, Strings, StringTable } from "./KeySchemas.ts"

/** One table under `model_providers`. */
export const ProviderConfig = Schema.Struct({
  name: Schema.String.annotate({ description: "Name to show to people." }),
  base_url: key(Schema.String, "Base address of the API. Required for a provider that is used."),
  env_key: key(Schema.String, "Environment variable that holds the API key."),
  experimental_bearer_token: key(
    Schema.String,
    "Bearer token sent with every request if `env_key` yields no key. Prefer a variable that `env_key` names.",
  ),
  env_key_instructions: key(Schema.String, "Instructions shown when that variable is not set."),
  wire_api: keyOr(
    Schema.Literals(["responses", "chat"]),
    "chat",
    "The wire: `responses` or `chat` (chat completions).",
  ),
  query_params: key(StringTable, "Added to the query of every request."),
  http_headers: key(StringTable, "Added to every request."),
  env_http_headers: key(
    StringTable,
    "Headers whose values are taken from environment variables; a variable that is not set adds none.",
  ),
  request_max_retries: keyOr(Count, 4, "Further attempts at a request, at most 100."),
  stream_max_retries: keyOr(
    Count,
    5,
    "Further attempts when the response stream breaks off, at most 100.",
  ),
  stream_idle_timeout_ms: keyOr(
    Count,
    300_000,
    "Milliseconds without data after which the response stream counts as broken off.",
  ),
  requires_openai_auth: keyOr(
    Schema.Boolean,
    false,
    "True: the API key is `OPENAI_API_KEY`, or the one that a login stored.",
  ),
})
/** The values of one table under `model_providers`, as far as they are set. */
export type ProviderConfig = typeof ProviderConfig.Type

/** One table under `mcp_servers`: a program to start, or a server that is called over HTTP. */
export const McpServerConfig = Schema.Struct({
  command: key(Schema.String, "Program to start; either this or `url`."),
  args: keyOr(Strings, [], "Arguments of the program."),
  env: key(StringTable, "Variables added to the environment of the program."),
  cwd: key(Schema.String, "Working directory of the program."),
  url: key(Schema.String, "Address of a server that speaks Streamable HTTP."),
  http_headers: key(StringTable, "Added to every request."),
  bearer_token_env_var: key(Schema.String, "Environment variable that holds the bearer token."),
  startup_timeout_sec: keyOr(Seconds, 10, "Seconds that the server may take to start."),
  startup_timeout_ms: key(Count, "The same in milliseconds; older name of the key."),
  tool_timeout_sec: keyOr(Seconds, 60, "Seconds that a call of one of its tools may take."),
  default_tools_approval_mode: key(
    ToolServerApproval,
    "When a call of its tools needs an approval: `approve` never, `prompt` always, `writes` unless the server says that the tool changes nothing, `auto` like `writes` except under the approval policy `never`. Default: `auto` in threads that a client of app-server v2 has started, `approve` in others.",
  ),
  enabled: keyOr(Schema.Boolean, true, "False: the table is ignored."),
})
/** The values of one table under `mcp_servers`, as far as they are set. */
export type McpServerConfig = typeof McpServerConfig.Type
