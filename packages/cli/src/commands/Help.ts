/** The one help page. */
export const help = `colloquy: a conversation engine for coding agents

Usage: colloquy <command> [options]

Commands:
  mcp            Serve the Model Context Protocol on stdin and stdout (also: mcp-server)
  app-server     Serve conversations over plain JSON-RPC on stdin and stdout, for editors and applications
  demo           Start a server, hold a conversation with it and show the events: a command and a
                 patch are asked for, approved and run in a directory of their own
  config         Print every key of the configuration that counts, and where it comes from;
                 secrets are hidden
  doctor         Tell whether commands can be confined on this machine, and what is missing
  generate-ts, generate-json-schema, generate-docs [DIALECT]
                 Print every method, event and type of a dialect, app-server or codex-mcp, as
                 TypeScript, JSON Schema or Markdown; with -o into files of a directory, those of
                 both dialects where none is named
  help           Show this page

Options:
  -c, --config key=value   Set a key of config.toml for this run; repeatable. The key may be a dotted
                           path, the value is TOML, or a plain string when it is not. With mcp,
                           app-server, demo and config, before the command or after it, as the next four
  -m, --model MODEL        Set model for this run. This option and the next two win over -c and over
                           the selected profile, which wins over -c; arguments of a call win over all
  -s, --sandbox MODE       Set sandbox_mode: read-only, workspace-write or danger-full-access
  -a, --ask-for-approval POLICY
                           Set approval_policy: untrusted, on-failure, on-request or never
  -p, --profile NAME       Select the profile NAME of config.toml
  -C, --cd DIRECTORY       Start conversations in this directory unless the client names one. With mcp,
                           app-server and config
      --listen stdio://    With mcp and app-server: serve stdin and stdout, as without it
      --no-events          With mcp: send no codex/event notifications; the same as -c mcp_events=off
  -o, --out DIRECTORY      With the generate commands: write the files there
  -h, --help               Show this page
  -V, --version            Show the version

Keys that only this program has:
  offline.script           JSON file with the answers of the offline model
  offline.delta_delay_ms   Pause between two pieces of its answer, in milliseconds
  mcp_events               on (default), always: also to 2026-07-28 clients that do not ask, off, or twice:
                           each event again under its own name, for the clients of codex 0.20
  mcp_task_after_ms        How long a call of a 2026-07-28 client that declares tasks waits for its result
                           before it becomes a task, in milliseconds (20000); 0: a task at once
  mcp_tools                Tools of tools/list: default (codex and codex-reply; the others can be called
                           without being listed), all, or an array of names, which are then the only
                           ones that can be called
  mcp_thread_id            content (default): results of codex and codex-reply also have the threadId in
                           a second text, for models; structured: in structuredContent alone
  shutdown_grace_ms        How long calls and turns may go on after the client has left, in milliseconds
                           (500)
  max_line_bytes           Bytes of the longest line that a client may send (67108864); a longer one gets
                           an error
  compatibility_version    Version of the original that --version, userAgent and serverInfo.version state,
                           before the own one (0.153.4)
  conversation_store       files (default), or memory: nothing is kept when the process ends
  unattended               what becomes of a question that nobody can be asked: deny (default), or park: it
                           waits, however long, until somebody can
  approval_timeout_sec     How long a question waits before it is denied, in seconds (600)
  on_restart               close (default), or continue: what becomes of a turn whose process died
  login.*                  issuer, client_id, scopes, callback_port and base_url of logins by browser

Environment:
  COLLOQUY_HOME            Directory of config.toml; else CODEX_HOME, else ~/.colloquy
  OPENAI_API_KEY           Key of the provider openai, before the one in auth.json; without either and
                           without a configured provider a conversation is an error that says so, and
                           model_provider=offline requests the built-in offline model
  OPENAI_BASE_URL          Address of the provider openai
  COLLOQUY_SETPRIV         Absolute path of a setpriv of util-linux 2.40 or newer, where the system's is older:
                           with it Landlock closes the named pipes outside the writable roots
  COLLOQUY_LOG             Least level of the log on stderr: error, warn (default), info, debug, trace, off

Examples:
  colloquy demo
  colloquy mcp -c model=gpt-5 -c sandbox_mode=workspace-write
  colloquy mcp -c model_provider=offline
  colloquy generate-json-schema app-server > app-server.schema.json
`
