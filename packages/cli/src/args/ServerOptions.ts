/** The keys of the configuration that the server process reads, beside those of conversations. `config.toml` and `-c` may set them. */
import { decode } from "@colloquy/config/ConfigSchema"
import { Count, key, keyOr, textThat, timerMs } from "@colloquy/config/KeySchemas"
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import { type ConfigTree, isEmpty } from "@colloquy/config/ConfigTree"
import { serverToolNames } from "@colloquy/protocol/mcp/ToolNames"
import { defaultMaxBytes } from "@colloquy/transport-stdio/Lines"
import { defaultCompatibility } from "../server/Version.ts"
import { expectedDatabase, isPostgres } from "./Addresses.ts"
import { misspeltKey } from "./MisspeltKey.ts"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const LoginConfig = Schema.Struct({
  issuer: key(Schema.String, "Address of the OAuth issuer for logins in the browser."),
  client_id: key(Schema.String, "Client id of this program at the issuer."),
  scopes: keyOr(
    Schema.String,
    "openid profile email offline_access",
    "Requested OAuth scopes, separated by spaces.",
  ),
  callback_port: keyOr(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })),
    0,
    "Port on 127.0.0.1 for the browser's callback; 0 takes any free one.",
  ),
  base_url: key(
    Schema.String,
    "Base URL for requests with the tokens of a login, instead of the provider's.",
  ),
  from_codex: keyOr(
    Schema.Boolean,
    true,
    "True: if Colloquy has no login, the one of the original in `$CODEX_HOME` or `~/.codex` is used for the provider `openai`. It is only read, never changed.",
  ),
})

const LineBytes = Schema.Int.check(
  // Below 1 KiB no client could even initialize; above 512 MiB a line does not fit a string of Node.
  Schema.isBetween(
    { minimum: 1024, maximum: 536_870_888 },
    { expected: "an integer from 1024 to 536870888" },
  ),
)

const OfflineConfig = Schema.Struct({
  script: key(
    Schema.String,
    "JSON file with the responses of the offline model, relative to the directory of the process.",
  ),
  delta_delay_ms: key(Count, "Milliseconds between two deltas of a response."),
})

const StorePlace = textThat(
  (text) => /^(?:files|memory|sqlite:.+)$/.test(text) || isPostgres(text),
  `\`files\`, \`memory\`, \`sqlite:PATH\` or ${expectedDatabase}`,
)

/** Schema of the keys; each one carries its description and its default. */
export const ServerOptions = Schema.Struct({
  login: key(LoginConfig, "Logins in the browser, for providers that take an OpenAI key."),
  offline: key(OfflineConfig, "The offline model."),
  max_line_bytes: keyOr(
    LineBytes,
    defaultMaxBytes,
    "Bytes of the longest line that a client may send; a longer one gets an error.",
  ),
  shutdown_grace_ms: keyOr(
    timerMs(0),
    500,
    "Milliseconds that calls and turns may continue after the client has disconnected; at most 24 hours.",
  ),
  conversation_idle_ms: keyOr(
    Count,
    5000,
    "Milliseconds without a turn, a listener and a use after which a conversation leaves memory; its next use loads it from the store.",
  ),
  mcp_events: keyOr(
    Schema.Literals(["on", "always", "off", "twice"]),
    "on",
    "`codex/event` notifications: sent, also sent to 2026-07-28 clients that do not request them, not sent, or sent a second time under the event's own name.",
  ),
  mcp_task_after_ms: keyOr(
    Count,
    20_000,
    "Milliseconds that a call of a 2026-07-28 client that declares tasks waits for its result before it becomes a task; 0: at once.",
  ),
  mcp_tools: keyOr(
    Schema.Union([
      Schema.Literal("default"),
      Schema.Literal("all"),
      Schema.Array(Schema.Literals(serverToolNames)),
    ]),
    "default",
    "Tools of `tools/list`: `codex` and `codex-reply`, all, or only the named ones; calls of tools that are not named are rejected.",
  ),
  mcp_thread_id: keyOr(
    Schema.Literals(["content", "structured"]),
    "content",
    "Where results of `codex` and `codex-reply` carry the `threadId`: also in a second text, or only in `structuredContent`.",
  ),
  compatibility_version: keyOr(
    Schema.String.check(Schema.isPattern(/^\d+\.\d+\.\d+$/, { expected: "a version `x.y.z`" })),
    defaultCompatibility,
    "Version of the original that `--version`, `userAgent` and `serverInfo.version` state before Colloquy's own.",
  ),
  conversation_store: keyOr(
    StorePlace,
    "files",
    "Where conversations are stored: `files` of the state directory, `memory` until the process ends, a PostgreSQL database (`postgres://user:password@host/database`) or a SQLite file (`sqlite:PATH`).",
  ),
})
/** The decoded keys; a key that is not set is absent. */
export type ServerOptions = typeof ServerOptions.Type

/**
 * Decodes the keys of a configuration; fails with the first key that is not valid. A misspelt one of `login` is an error
 * because ignoring it could send tokens to a host that was not configured.
 */
export const serverOptions = (tree: ConfigTree): Result.Result<ServerOptions, ConfigFault> => {
  if (isEmpty(tree)) return Result.succeed({})
  const misspelt = misspeltKey(tree, "login", LoginConfig.fields)
  return misspelt === undefined ? decode(ServerOptions, tree) : Result.fail(misspelt)
}
