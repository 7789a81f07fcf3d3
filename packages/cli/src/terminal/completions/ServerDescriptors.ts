/**
 * The commands that `args/Args.ts` parses, as completions describe them. Written here once more, because what a server loads
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
  flag("config", "Set a key of config.toml for this run", text, "c"),
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
const listen = flag("listen", "The address to serve", text)
const noEvents = flag("no-events", "Send no codex/event notifications", { _tag: "Boolean" })
const out = flag("out", "The directory to write to", directory, "o")

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

/** One for each command of a server. */
export const serverDescriptors: ReadonlyArray<CommandDescriptor> = [
  command("mcp", "Serve MCP", [...overrides, cd, listen, noEvents]),
  command("mcp-server", "Serve MCP", [...overrides, cd, listen, noEvents]),
  command("app-server", "Serve plain JSON-RPC", [...overrides, cd, listen]),
  command("serve", "Serve both and HTTP on a port", [...overrides, cd, listen, noEvents]),
  command("demo", "Hold a conversation with a server", overrides),
  command("config", "Print the effective configuration", [...overrides, cd]),
  command("doctor", "Check this machine and the configuration", []),
  command("generate-ts", "Print a dialect as TypeScript", [out], [dialect]),
  command("generate-json-schema", "Print a dialect as JSON Schema", [out], [dialect]),
  command("generate-docs", "Print a dialect as Markdown", [out], [dialect]),
  command("help", "Show the commands", []),
]
