/**
 * The tables of the configuration that name a program or host to connect to: model providers and
 * tool servers.
 */
import * as Schema from "effect/Schema"
import { Count, key, keyOr, Seconds, Strings, StringTable } from "./ConfigKey.ts"

/** One table under `model_providers`. */
export const ProviderConfig = Schema.Struct({
  name: Schema.String.annotate({ description: "Name for people." }),
  base_url: key(
    Schema.String,
    "Address that the paths of the wire are added to. A provider that is used must have one.",
  ),
  env_key: key(Schema.String, "Environment variable that holds the API key."),
  experimental_bearer_token: key(
    Schema.String,
    "Bearer token sent with every request where `env_key` gives no key; better kept in a variable that `env_key` names.",
  ),
  env_key_instructions: key(Schema.String, "What a person is told who has not set that variable."),
  wire_api: keyOr(
    Schema.Literals(["responses", "chat"]),
    "chat",
    "The wire: `responses` or `chat` (chat completions).",
  ),
  query_params: key(StringTable, "Added to the query of every request."),
  http_headers: key(StringTable, "Added to every request."),
  env_http_headers: key(
    StringTable,
    "Headers whose values are those of environment variables; one that is not set adds none.",
  ),
  request_max_retries: keyOr(Count, 4, "Further attempts at a request, at most 100."),
  stream_max_retries: keyOr(Count, 5, "Further attempts when an answer breaks off, at most 100."),
  stream_idle_timeout_ms: keyOr(
    Count,
    300_000,
    "Milliseconds without a word of an answer after which it counts as broken off.",
  ),
  requires_openai_auth: keyOr(
    Schema.Boolean,
    false,
    "The key is that of OpenAI: `OPENAI_API_KEY`, or what a login stored.",
  ),
})
/** The values of one table under `model_providers`, as far as they are set. */
export type ProviderConfig = typeof ProviderConfig.Type

/** One table under `mcp_servers`: a program to start, or a server that is called over HTTP. */
export const McpServerConfig = Schema.Struct({
  command: key(Schema.String, "Program to start; either this or `url`."),
  args: keyOr(Strings, [], "Its arguments."),
  env: key(StringTable, "Added to its environment."),
  cwd: key(Schema.String, "Its working directory."),
  url: key(Schema.String, "Address of a server that speaks Streamable HTTP."),
  http_headers: key(StringTable, "Added to every request."),
  bearer_token_env_var: key(Schema.String, "Environment variable that holds the bearer token."),
  startup_timeout_sec: keyOr(Seconds, 10, "Seconds it may take to be ready."),
  startup_timeout_ms: key(Count, "The same in milliseconds; an older name."),
  tool_timeout_sec: keyOr(Seconds, 60, "Seconds a call of one of its tools may take."),
  enabled: keyOr(Schema.Boolean, true, "False: as if the table were not there."),
})
/** The values of one table under `mcp_servers`, as far as they are set. */
export type McpServerConfig = typeof McpServerConfig.Type
