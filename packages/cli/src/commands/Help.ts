/** The help page of the program: its commands, and what holds for most of them. `CommandHelp.ts` has the page of each. */
import { type Entry, entryRows } from "./HelpEntries.ts"

const people: ReadonlyArray<Entry> = [
  ["chat", "Hold a conversation in the terminal"],
  ["exec", "Run one turn and end: for scripts and pipelines"],
  ["sessions", "List, show, continue, name, copy, archive, delete and transfer conversations"],
  ["login, logout", "Log in to the provider openai, or store an API key; delete it"],
  ["status", "Print which model, provider and login are used"],
  ["doctor", "Check the sandbox, the configuration, the provider and its key"],
  ["completions", "Print the completions for bash, zsh or fish"],
  ["demo", "Start a server, hold a conversation with it and show the events"],
]

const servers: ReadonlyArray<Entry> = [
  ["mcp", "Serve the Model Context Protocol on stdin and stdout, or on a port"],
  ["app-server", "Serve conversations over plain JSON-RPC, for editors and applications"],
  ["serve", "Serve both and a plain HTTP API on a port of this machine"],
  ["cluster status", "Print the servers that share conversations"],
]

const others: ReadonlyArray<Entry> = [
  ["config", "Print the effective configuration and the origin of each key"],
  [
    "generate-ts, generate-json-schema, generate-docs",
    "Print every method, event and type of a dialect",
  ],
  ["help COMMAND", "Show the page of a command, like COMMAND --help"],
]

const options: ReadonlyArray<Entry> = [
  [
    "-c, --config KEY=VALUE",
    "Set a key of config.toml for this run; repeatable. The value is TOML, or a plain string if it is not valid TOML. `colloquy config --help` lists the keys of this program",
  ],
  ["-m, --model MODEL", "Set the model. This and the next two override -c and the profile"],
  ["-s, --sandbox MODE", "read-only, workspace-write or danger-full-access"],
  ["-a, --ask-for-approval POLICY", "untrusted, on-failure, on-request or never"],
  ["-p, --profile NAME", "Select a profile of config.toml"],
  ["-C, --cd DIRECTORY", "Start conversations in this directory"],
  ["-h, --help", "Show this page, or that of the command"],
  ["-V, --version", "Show the version"],
]

const environment: ReadonlyArray<Entry> = [
  ["COLLOQUY_HOME", "Directory of config.toml; else CODEX_HOME, else ~/.colloquy"],
  [
    "OPENAI_API_KEY",
    "Key of the provider openai; takes precedence over auth.json. Without a key, a login and a configured provider, starting a conversation fails with an error that says so. model_provider=offline selects the built-in offline model",
  ],
  ["OPENAI_BASE_URL", "Base URL of the provider openai"],
  [
    "COLLOQUY_SETPRIV",
    "Absolute path of setpriv of util-linux 2.40 or newer, if the system's is older. With it, Landlock closes the named pipes outside the writable roots",
  ],
  [
    "COLLOQUY_LOG",
    "Minimum level of the log on stderr: error, warn (default), info, debug, trace, off",
  ],
]

const examples = `Examples:
  colloquy demo
  colloquy chat -c model_provider=offline
  colloquy mcp -c model=gpt-5 -c sandbox_mode=workspace-write
  colloquy serve --listen http://127.0.0.1:8747
  colloquy generate-json-schema app-server > app-server.schema.json
`

const commandColumn = 17
const optionColumn = 27

const section = (title: string, entries: ReadonlyArray<Entry>, column: number): string =>
  `${[`${title}:`, ...entryRows(entries, column)].join("\n")}\n`

/** The text of `colloquy --help`. */
export const help = `colloquy: a conversation engine for coding agents

Usage: colloquy <command> [options]

${[
  section("Commands", people, commandColumn),
  section("Servers", servers, commandColumn),
  section("Configuration and contracts", others, commandColumn),
  section("Options of most commands", options, optionColumn),
  section("Environment", environment, optionColumn),
  examples,
].join("\n")}`
