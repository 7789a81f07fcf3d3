/** The keys of the configuration that only the server process has; `config.toml` and `-c` may set them. */
import { Count, decode } from "@colloquy/core/settings/ConfigSchema"
import { key, keyOr } from "@colloquy/core/settings/ConfigKey"
import type { ConfigFault } from "@colloquy/core/settings/ConfigFault"
import type { ConfigTree } from "@colloquy/core/settings/ConfigTree"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"

export const ServerOptions = Schema.Struct({
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
  shutdown_grace_ms: keyOr(
    Count,
    500,
    "Milliseconds that running turns may go on after the client has left.",
  ),
  mcp_events: keyOr(
    Schema.Literals(["on", "off", "twice"]),
    "on",
    "`codex/event` notifications: sent, not sent, or each again under its own name.",
  ),
})
export type ServerOptions = typeof ServerOptions.Type

export const serverOptions = (tree: ConfigTree): Result.Result<ServerOptions, ConfigFault> =>
  decode(ServerOptions, tree)
