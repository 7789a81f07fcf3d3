/**
 * The commands that `args/Args.ts` parses, as completions and help pages describe them. Written here once more, because what a server loads
 * at its start may not depend on the commands for people; a test compares the two.
 */
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"

const flag = (
  name: string,
  description: string,
  type: FlagDescriptor["type"],
  ...aliases: ReadonlyArray<string>
): FlagDescriptor => ({ name, aliases, description, type, negation: false })

const text = { _tag: "String" } as const
const directory = { _tag: "Path", pathType: "directory" } as const
const choice = (...values: ReadonlyArray<string>) => ({ _tag: "Choice", values }) as const

const overrides = [
  flag("config", "Set a key of config.toml for this run: key=value, the value in TOML", text, "c"),
  flag("model", "The model", text, "m"),
  flag(
    "sandbox",
    "What commands may change",
    choice("read-only", "workspace-write", "danger-full-access"),
    "s",
  ),
  flag(
    "ask-for-approval",
    "When to ask before a command or a change",
    choice("untrusted", "on-failure", "on-request", "never"),
    "a",
  ),
  flag("profile", "The profile of config.toml", text, "p"),
]
const cd = flag("cd", "The directory to work in", directory, "C")
const listen = (description: string) => flag("listen", description, text)
const tls = "Port 0 is any free one; beyond the loopback interface TLS is required"
const noEvents = flag("no-events", "Send no codex/event notifications", { _tag: "Boolean" })
const cluster = [
  flag(
    "cluster",
    "Share conversations with the servers of this PostgreSQL database: postgres://user:password@host/database",
    text,
  ),
  flag(
    "cluster-listen",
    "HOST:PORT for calls of those servers, by default 127.0.0.1 and any free port; only they may reach it",
    text,
  ),
  flag(
    "cluster-address",
    "HOST:PORT by which they reach this server, by default where it listens",
    text,
  ),
]
const out = flag(
  "out",
  "Write files to this directory, of all dialects if none is named",
  directory,
  "o",
)

const command = (
  name: string,
  description: string,
  flags: ReadonlyArray<FlagDescriptor>,
  args: CommandDescriptor["arguments"] = [],
): CommandDescriptor => ({ name, description, flags, arguments: args, subcommands: [] })

const dialect = {
  name: "dialect",
  description: "The dialect",
  required: false,
  variadic: false,
  type: choice("app-server", "app-server-v2", "codex-mcp"),
}

const mcp = "Serve the Model Context Protocol"
const mcpListen = listen(
  `stdio://, which is the default, or http://HOST:PORT or https://HOST:PORT. ${tls}`,
)

/** One for each command of a server. */
export const serverDescriptors: ReadonlyArray<CommandDescriptor> = [
  command("mcp", mcp, [...overrides, cd, mcpListen, noEvents]),
  command("mcp-server", mcp, [...overrides, cd, mcpListen, noEvents]),
  command("app-server", "Serve conversations over plain JSON-RPC", [
    ...overrides,
    cd,
    listen(`stdio://, which is the default, or ws://HOST:PORT or wss://HOST:PORT. ${tls}`),
  ]),
  command("serve", "Serve MCP, plain JSON-RPC and a plain HTTP API on a port of this machine", [
    ...overrides,
    cd,
    listen(`http://HOST:PORT, by default http://127.0.0.1:8747, or https://HOST:PORT. ${tls}`),
    ...cluster,
    noEvents,
  ]),
  command("demo", "Start a server, hold a conversation with it and show the events", overrides),
  command("config", "Print every key of the effective configuration and its origin", [
    ...overrides,
    cd,
  ]),
  command("doctor", "Check the sandbox, the configuration, the provider and its key", [
    ...overrides,
    cd,
  ]),
  command("generate-ts", "Print a dialect as TypeScript", [out], [dialect]),
  command("generate-json-schema", "Print a dialect as JSON Schema", [out], [dialect]),
  command("generate-docs", "Print a dialect as Markdown", [out], [dialect]),
  command("help", "Show the commands, or the page of one", []),
]
