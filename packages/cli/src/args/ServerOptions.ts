/** The keys of the configuration that only the server process has; `config.toml` and `-c` may set them. */
import { decode } from "@colloquy/config/ConfigSchema"
import { Count, key, keyOr } from "@colloquy/config/KeySchemas"
import { type ConfigFault, faultAt } from "@colloquy/config/ConfigFault"
import { type ConfigTree, get, isEmpty, isTable } from "@colloquy/config/ConfigTree"
import { nearest } from "@colloquy/protocol/Nearest"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { defaultMaxBytes } from "@colloquy/transport-stdio/Lines"
import { defaultCompatibility } from "../server/Version.ts"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const LoginConfig = Schema.Struct({
  issuer: key(Schema.String, "Address of the issuer that people log in with by browser."),
  client_id: key(Schema.String, "What this program is called there."),
  scopes: keyOr(
    Schema.String,
    "openid profile email offline_access",
    "What is asked for, divided by spaces.",
  ),
  callback_port: keyOr(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })),
    0,
    "Port on 127.0.0.1 that the browser comes back to; 0 takes any that is free.",
  ),
  base_url: key(
    Schema.String,
    "Where the tokens are good for, in place of the provider's address.",
  ),
  from_codex: keyOr(
    Schema.Boolean,
    true,
    "True: where Colloquy has no login, the one of the original in `$CODEX_HOME` or `~/.codex` is read and used for the provider `openai`; it is never changed.",
  ),
})

export const ServerOptions = Schema.Struct({
  login: key(LoginConfig, "Logins by browser, for providers that take the key of OpenAI."),
  offline: key(
    Schema.Struct({
      script: key(
        Schema.String,
        "JSON file with the answers of the offline model, from the directory of the process.",
      ),
      delta_delay_ms: key(Count, "Milliseconds between two pieces of its answer."),
    }),
    "The offline model.",
  ),
  max_line_bytes: keyOr(
    // Below 1 KiB no client could even initialize; above, a line does not fit a string of Node.
    Schema.Int.check(
      Schema.isBetween(
        { minimum: 1024, maximum: 536_870_888 },
        { expected: "an integer from 1024 to 536870888" },
      ),
    ),
    defaultMaxBytes,
    "Bytes of the longest line that a client may send; a longer one gets an error.",
  ),
  shutdown_grace_ms: keyOr(
    Count,
    500,
    "Milliseconds that calls and turns may go on after the client has left.",
  ),
  mcp_events: keyOr(
    Schema.Literals(["on", "always", "off", "twice"]),
    "on",
    "`codex/event` notifications: sent, sent also to 2026-07-28 clients that do not ask for them, not sent, or each again under its own name.",
  ),
  mcp_task_after_ms: keyOr(
    Count,
    20_000,
    "Milliseconds that a call of a 2026-07-28 client that declares tasks waits for its result before it is answered with a task; 0 makes it a task at once.",
  ),
  mcp_tools: keyOr(
    Schema.Union([
      Schema.Literal("default"),
      Schema.Literal("all"),
      Schema.Array(Schema.Literals(serverTools.map(({ name }) => name))),
    ]),
    "default",
    "Tools of `tools/list`: `codex` and `codex-reply`, all, or these alone; calls of tools that such a list leaves out are refused.",
  ),
  mcp_thread_id: keyOr(
    Schema.Literals(["content", "structured"]),
    "content",
    "Where results of `codex` and `codex-reply` have the `threadId`: also in a second text, or in `structuredContent` alone.",
  ),
  compatibility_version: keyOr(
    Schema.String.check(Schema.isPattern(/^\d+\.\d+\.\d+$/, { expected: "a version `x.y.z`" })),
    defaultCompatibility,
    "Version of the original that `--version`, `userAgent` and `serverInfo.version` state before the own one.",
  ),
  conversation_store: keyOr(
    Schema.Literals(["files", "memory"]),
    "files",
    "Where conversations are kept: in files of the state directory, or until the process ends.",
  ),
})
export type ServerOptions = typeof ServerOptions.Type

const loginKeys = Object.keys(LoginConfig.fields)

/** The first misspelt key of `login`: ignored, it would send tokens to a host that nobody configured. */
const misspeltLoginKey = (tree: ConfigTree): ConfigFault | undefined => {
  const login = get(tree, "login")
  for (const key of isTable(login) ? Object.keys(login) : []) {
    const meant = loginKeys.includes(key) ? undefined : nearest(key, loginKeys)
    if (meant === undefined) continue
    return faultAt(["login", key], `unknown field \`${key}\`, did you mean \`${meant}\`?`)
  }
  return undefined
}

export const serverOptions = (tree: ConfigTree): Result.Result<ServerOptions, ConfigFault> => {
  if (isEmpty(tree)) return Result.succeed({})
  const misspelt = misspeltLoginKey(tree)
  return misspelt === undefined ? decode(ServerOptions, tree) : Result.fail(misspelt)
}
