/**
 * The tools `codex` and `codex-reply`: one definition each, from which the input schema, the output schema and the decoder
 * are derived. They accept the arguments of every version of the original
 * (packages/server/test/fixtures/v0.29.0/handshake.jsonl, packages/docs/wire/codex-mcp.md).
 */
import * as Schema from "effect/Schema"
import { type JsonSchema, jsonSchemaOf } from "../JsonSchema.ts"
import type { Pure } from "../Method.ts"
import { AskForApproval, SandboxMode } from "../Policy.ts"
import type { TaskSupport } from "./Tasks.ts"

/** Hints of MCP about what a tool does. An absent member has the default of the specification. */
export type ToolAnnotations = Readonly<
  Partial<Record<"readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint", boolean>>
>

/** A tool of the server: its name, texts, arguments and schemas. */
export interface ToolDefinition<A extends Pure = Pure, Name extends string = string> {
  readonly name: Name
  readonly title: string
  readonly description: string
  readonly arguments: A
  /** Made with its first use, like `outputSchema`: `initialize` does not wait for it. */
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations?: ToolAnnotations
  /** Default `forbidden`, for tools that return quickly. */
  readonly taskSupport?: TaskSupport
}

/** `structuredContent` of every successful call. Both ids have the same value. */
export const ToolOutput = Schema.Struct({
  threadId: Schema.String,
  conversationId: Schema.String,
  content: Schema.String,
})
/** A decoded `ToolOutput`. */
export type ToolOutput = typeof ToolOutput.Type

const tool = <A extends Pure, const Name extends string>(options: {
  readonly name: Name
  readonly title: string
  readonly description: string
  readonly arguments: A
  readonly taskSupport: TaskSupport
}): ToolDefinition<A, Name> => {
  let input: JsonSchema | undefined
  let output: JsonSchema | undefined
  return {
    ...options,
    get inputSchema() {
      return (input ??= jsonSchemaOf(options.arguments, { closed: true }))
    },
    get outputSchema() {
      return (output ??= jsonSchemaOf(ToolOutput))
    },
  }
}

const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

/** The arguments of `codex`. Descriptions are short: clients send them with each of their own model requests. */
export const CodexArguments = Schema.Struct({
  "approval-policy": optional(
    AskForApproval,
    "When a person is asked first. `untrusted`: before every command that is not known to be harmless; `on-failure`: after a command failed in the sandbox; `on-request`: when the agent wants to leave the sandbox; `never`: not at all.",
  ),
  "base-instructions": optional(Schema.String, "Replaces the system instructions of the agent."),
  "compact-prompt": optional(
    Schema.String,
    "Replaces the instructions for summarizing a long conversation.",
  ),
  config: optional(
    Schema.Record(Schema.String, Schema.Unknown),
    "Settings that override config.toml, by key or dotted path.",
  ),
  cwd: optional(
    Schema.String,
    "Working directory of the agent. A relative path starts at the directory of the server.",
  ),
  "developer-instructions": optional(
    Schema.String,
    "Instructions in addition to the system instructions.",
  ),
  "include-plan-tool": optional(Schema.Boolean, "Whether the agent may maintain a visible plan."),
  model: optional(Schema.String, "Name of the model at its provider."),
  profile: optional(Schema.String, "Profile in config.toml."),
  prompt: Schema.String.annotate({ description: "First message to the agent." }),
  sandbox: optional(
    SandboxMode,
    "What commands may change: `read-only`: nothing; `workspace-write`: files below the working directory; `danger-full-access`: everything.",
  ),
})
/** A decoded `CodexArguments`. */
export type CodexArguments = typeof CodexArguments.Type

/** Starts a conversation and runs its first turn. */
export const Codex = tool({
  name: "codex",
  title: "Codex",
  description:
    "Starts a conversation with a coding agent, runs its first turn to the end and returns the agent's last message and the `threadId` of the conversation. Continue it with `codex-reply`.",
  arguments: CodexArguments,
  taskSupport: "optional",
})

const WhileRunning = Schema.Literals(["wait", "steer", "queue", "interrupt", "reject"])

/** The arguments of `codex-reply`. */
export const CodexReplyArguments = Schema.Struct({
  conversationId: optional(Schema.String, "Older name of `threadId`."),
  prompt: Schema.String.annotate({ description: "Next message to the agent." }),
  sessionId: optional(Schema.String, "Oldest name of `threadId`."),
  threadId: optional(
    Schema.String,
    "`threadId` of an earlier result. Default: the conversation that this connection used last.",
  ),
  "while-running": optional(
    WhileRunning,
    "If a turn of the conversation is running: `wait` for its end (default), `steer` or `queue` the message into it and return its result, `interrupt` it, or `reject` the message. Without a running turn `steer` is an error.",
  ),
})
/** A decoded `CodexReplyArguments`. */
export type CodexReplyArguments = typeof CodexReplyArguments.Type

/** Runs the next turn of a conversation. */
export const CodexReply = tool({
  name: "codex-reply",
  title: "Codex Reply",
  description:
    "Sends the next message to a conversation that `codex` started, runs the turn to the end and returns the agent's last message.",
  arguments: CodexReplyArguments,
  taskSupport: "optional",
})

const tools = [Codex, CodexReply] as const
/** The names of the two tools. */
export type CodexToolName = (typeof tools)[number]["name"]

/** In the order of `tools/list`. */
export const codexTools: ReadonlyArray<ToolDefinition<Pure, CodexToolName>> = tools
