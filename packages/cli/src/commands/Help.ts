/** The help page: commands, options, keys and environment variables. */

const commands = `Usage: colloquy <command> [options]

Commands:
  mcp            Serve the Model Context Protocol on stdin and stdout (also: mcp-server)
  app-server     Serve conversations over plain JSON-RPC on stdin and stdout, for editors and applications
  serve          Serve both and a plain HTTP API on a port of this machine: /mcp, /ws and /v1. A token is
                 created at the first start and printed once
  chat           Hold a conversation in the terminal
  exec           Run one turn and end, for scripts: colloquy exec --help
  sessions       List, show, resume, rename, fork, archive, unarchive and rm: the stored conversations
  login          Log in to the provider openai in a browser, or with --api-key, which is read from stdin
  logout, status Delete the stored login; print which model, provider and login are used
  completions    Print the completions for bash, zsh or fish. Each of the last six has a page of its own:
                 colloquy chat --help
  demo           Start a server, hold a conversation with it and show the events. The conversation
                 requests a command and a patch, which are approved and run in a temporary directory
  config         Print every key of the effective configuration and its origin; secrets are redacted
  doctor         Check the sandbox, the configuration, the provider and its key; exit code 1 if one is missing
  generate-ts, generate-json-schema, generate-docs [DIALECT]
                 Print every method, event and type of a dialect (app-server, app-server-v2 or codex-mcp) as
                 TypeScript, JSON Schema or Markdown; with -o, write files into a directory, for
                 all dialects if none is named
  help           Show this page
`

const options = `Options:
  -c, --config key=value   Set a key of config.toml for this run; repeatable. The key may be a dotted
                           path; the value is TOML, or a plain string if it is not valid TOML. Valid
                           with mcp, app-server, serve, demo and config, before or after the command,
                           like the next four options
  -m, --model MODEL        Set model for this run. This option and the next two override -c and the
                           selected profile, which overrides -c; arguments of a call override all
  -s, --sandbox MODE       Set sandbox_mode: read-only, workspace-write or danger-full-access
  -a, --ask-for-approval POLICY
                           Set approval_policy: untrusted, on-failure, on-request or never
  -p, --profile NAME       Select the profile NAME of config.toml
  -C, --cd DIRECTORY       Start conversations in this directory unless the client names one. Valid with
                           mcp, app-server, serve and config
      --listen ADDRESS     With mcp and app-server: stdio://, which is the default, or a port: mcp serves
                           http://HOST:PORT or https://HOST:PORT, app-server ws:// or wss://, and serve
                           http:// (default http://127.0.0.1:8747) or https://. Port 0 is any free one.
                           Beyond the loopback interface TLS is required (http.tls_certificate)
      --no-events          With mcp and serve: send no codex/event notifications; the same as -c mcp_events=off
  -o, --out DIRECTORY      With the generate commands: write the files to this directory
  -h, --help               Show this page
  -V, --version            Show the version
`

const keys = `Keys of config.toml and -c that only this program has:
  offline.script           JSON file with the responses of the offline model
  offline.delta_delay_ms   Pause between two deltas of its responses, in milliseconds
  conversation_idle_ms     How long a conversation stays in memory after its last turn, listener and use, in
                           milliseconds (default 5000); its next use loads it from the store
  mcp_events               codex/event notifications: on (default); always: also to 2026-07-28 clients that
                           do not request them; off; or twice: each event a second time under its own
                           name, for clients of codex 0.20
  mcp_task_after_ms        How long a call of a 2026-07-28 client that declares tasks waits for its result
                           before it becomes a task, in milliseconds (default 20000); 0: at once
  mcp_tools                Tools of tools/list: default (codex and codex-reply; the others can be called
                           without being listed), all, or an array of names, which are then the only
                           ones that can be called
  mcp_thread_id            content (default): results of codex and codex-reply also contain the threadId
                           in a second text, for models; structured: only in structuredContent
  shutdown_grace_ms        How long calls and turns may continue after the client has disconnected, in
                           milliseconds (default 500)
  max_line_bytes           Bytes of the longest line that a client may send (default 67108864); a longer
                           one gets an error
  compatibility_version    Version of the original that --version, userAgent and serverInfo.version state,
                           before Colloquy's own (default 0.153.4)
  conversation_store       files (default), memory: conversations are lost when the process ends, or a database:
                           postgres://user@host/name or sqlite:PATH
  unattended               What happens to a question that no client can answer: deny (default), or park:
                           it waits without a limit until a client can answer
  approval_timeout_sec     How long a question waits before it is denied, in seconds (default 600)
  on_restart               What happens to a turn whose process ended: close (default), or continue
  http.*                   The server on a port: hosts, origins, authentication, tls_certificate, tls_key,
                           tls_by_proxy, and limits; colloquy config prints them
  telemetry.*              Export of spans and metrics to OpenTelemetry: otlp_endpoint, otlp_protocol,
                           otlp_headers, otlp_env_headers, signals, export_interval_ms
  login.*                  issuer, client_id, scopes, callback_port and base_url of logins in the browser;
                           from_codex: whether to use the login of codex (default true)
`

const environment = `Environment:
  COLLOQUY_HOME            Directory of config.toml; else CODEX_HOME, else ~/.colloquy
  OPENAI_API_KEY           Key of the provider openai; takes precedence over auth.json. Without a key, a login
                           and a configured provider, starting a conversation fails with an error that
                           says so. model_provider=offline selects the built-in offline model
  OPENAI_BASE_URL          Base URL of the provider openai
  COLLOQUY_SETPRIV         Absolute path of setpriv of util-linux 2.40 or newer, if the system's is older. With
                           it, Landlock closes the named pipes outside the writable roots
  COLLOQUY_LOG             Minimum level of the log on stderr: error, warn (default), info, debug, trace, off
`

const examples = `Examples:
  colloquy demo
  colloquy mcp -c model=gpt-5 -c sandbox_mode=workspace-write
  colloquy mcp -c model_provider=offline
  colloquy serve --listen http://127.0.0.1:8747
  colloquy generate-json-schema app-server > app-server.schema.json
`

/** The text of `colloquy --help`. */
export const help = `colloquy: a conversation engine for coding agents

${[commands, options, keys, environment, examples].join("\n")}`
