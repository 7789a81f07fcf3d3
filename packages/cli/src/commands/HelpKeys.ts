/** The keys of `config.toml` that only this program has, with what each does: part of the help page of `config`. */
import type { Entry } from "./HelpEntries.ts"

/** See the header. */
export const keyEntries: ReadonlyArray<Entry> = [
  ["offline.script", "JSON file with the responses of the offline model"],
  ["offline.delta_delay_ms", "Pause between two deltas of its responses, in milliseconds"],
  [
    "conversation_idle_ms",
    "How long a conversation stays in memory after its last turn, listener and use, in milliseconds (default 5000); its next use loads it from the store",
  ],
  [
    "mcp_events",
    "codex/event notifications: on (default); always: also to 2026-07-28 clients that do not request them; off; or twice: each event a second time under its own name, for clients of codex 0.20",
  ],
  [
    "mcp_task_after_ms",
    "How long a call of a 2026-07-28 client that declares tasks waits for its result before it becomes a task, in milliseconds (default 20000); 0: at once",
  ],
  [
    "mcp_tools",
    "Tools of tools/list: default (codex and codex-reply; the others can be called without being listed), all, or an array of names, which are then the only ones that can be called",
  ],
  [
    "mcp_thread_id",
    "content (default): results of codex and codex-reply also contain the threadId in a second text, for models; structured: only in structuredContent",
  ],
  [
    "shutdown_grace_ms",
    "How long calls and turns may continue after the client has disconnected, in milliseconds (default 500)",
  ],
  [
    "max_line_bytes",
    "Bytes of the longest line that a client may send (default 67108864); a longer one gets an error",
  ],
  [
    "compatibility_version",
    "Version of the original that --version, userAgent and serverInfo.version state, before Colloquy's own (default 0.153.4)",
  ],
  [
    "conversation_store",
    "files (default), memory: conversations are lost when the process ends, or a database: postgres://user@host/name or sqlite:PATH",
  ],
  [
    "unattended",
    "What happens to a question that no client can answer: deny (default), or park: it waits without a limit until a client can answer",
  ],
  [
    "approval_timeout_sec",
    "How long a question waits before it is denied, in seconds (default 600)",
  ],
  ["on_restart", "What happens to a turn whose process ended: close (default), or continue"],
  [
    "cluster.*",
    "Servers that share conversations: database, listen, address, and drain_ms, how long turns may go on after a signal (default 25000)",
  ],
  [
    "http.*",
    "The server on a port: hosts, origins, authentication, tls_certificate, tls_key, tls_by_proxy, and limits; colloquy config prints them",
  ],
  [
    "telemetry.*",
    "Export of spans and metrics to OpenTelemetry: otlp_endpoint, otlp_protocol, otlp_headers, otlp_env_headers, signals, export_interval_ms",
  ],
  [
    "login.*",
    "issuer, client_id, scopes, callback_port and base_url of logins in the browser; from_codex: whether to use the login of codex (default true)",
  ],
]
