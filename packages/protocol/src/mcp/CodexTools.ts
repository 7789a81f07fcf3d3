/**
 * The tools `codex` and `codex-reply`: one definition each, from which the input schema, the output schema and the
 * decoder come. The arguments of every generation of the original are members (§1.4; recordings `handshake`).
 */
import * as Schema from "effect/Schema"
import { type JsonSchema, jsonSchemaOf } from "../JsonSchema.ts"
import type { Pure } from "../Method.ts"
import { AskForApproval, SandboxMode } from "../Policy.ts"
import type { TaskSupport } from "./Tasks.ts"

/** What a client may assume of a tool (MCP); absent members have the defaults of the specification. */
export type ToolAnnotations = Readonly<
  Partial<Record<"readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint", boolean>>
>

export interface ToolDefinition<A extends Pure = Pure> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: A
  /** Made when first asked for: `initialize` does not wait for it. So is `outputSchema`. */
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations?: ToolAnnotations
  /** Default `forbidden`: it does not take long. */
  readonly taskSupport?: TaskSupport
}

/** What every successful call returns as `structuredContent`; both ids are the same value. */
export const ToolOutput = Schema.Struct({
  threadId: Schema.String,
  conversationId: Schema.String,
  content: Schema.String,
})
export type ToolOutput = typeof ToolOutput.Type

const tool = <A extends Pure>(options: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: A
  readonly taskSupport: TaskSupport
}): ToolDefinition<A> => {
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

export const CodexArguments = Schema.Struct({
  "approval-policy": optional(
    AskForApproval,
    "When to ask before a command or an edit: `untrusted` asks for all but known harmless commands, `on-failure` when a sandboxed attempt failed, `on-request` when the agent wants more than the sandbox allows, `never` does not ask.",
  ),
  "base-instructions": optional(
    Schema.String,
    "Replaces the built-in system instructions of the agent.",
  ),
  "compact-prompt": optional(
    Schema.String,
    "Replaces the built-in instructions for summarizing a long conversation.",
  ),
  config: optional(
    Schema.Record(Schema.String, Schema.Unknown),
    "Settings for this conversation that win over config.toml. A key may be a dotted path, such as `model_providers.local.base_url`.",
  ),
  cwd: optional(
    Schema.String,
    "Directory the agent works in. A relative path is taken from the directory of the server.",
  ),
  "developer-instructions": optional(
    Schema.String,
    "Instructions added after the system instructions, for this conversation only.",
  ),
  "include-plan-tool": optional(
    Schema.Boolean,
    "Whether the agent may keep a visible plan of its steps.",
  ),
  model: optional(Schema.String, "Name of the model, as its provider calls it."),
  profile: optional(Schema.String, "Name of a profile in config.toml to take settings from."),
  prompt: Schema.String.annotate({ description: "The first message to the agent." }),
  sandbox: optional(
    SandboxMode,
    "What commands may touch: `read-only`, `workspace-write` (files below the working directory) or `danger-full-access`.",
  ),
})
export type CodexArguments = typeof CodexArguments.Type

export const Codex = tool({
  name: "codex",
  title: "Codex",
  description:
    "Starts a conversation with a coding agent and runs its first turn to the end. The result is the agent's last message; `threadId` in the structured content names the conversation for follow-ups with `codex-reply`.",
  arguments: CodexArguments,
  taskSupport: "optional",
})

const WhileRunning = Schema.Literals(["wait", "steer", "queue", "interrupt", "reject"])

export const CodexReplyArguments = Schema.Struct({
  conversationId: optional(Schema.String, "Older name of `threadId`."),
  prompt: Schema.String.annotate({ description: "The next message to the agent." }),
  sessionId: optional(Schema.String, "Oldest name of `threadId`."),
  threadId: optional(
    Schema.String,
    "The conversation to go on with: `threadId` of an earlier result. Required, under this or one of the older names.",
  ),
  "while-running": optional(
    WhileRunning,
    "What becomes of the message while a turn of the conversation runs: `wait` (default) for a turn of its own after it, `steer` into the running turn, which is an error when none runs, `queue` likewise but with a turn of its own when none runs, `interrupt` the running turn and be the next, `reject` the message. A call that joined a turn is answered with that turn's result.",
  ),
})
export type CodexReplyArguments = typeof CodexReplyArguments.Type

export const CodexReply = tool({
  name: "codex-reply",
  title: "Codex Reply",
  description:
    "Sends the next message to a conversation that `codex` started and runs the turn to the end. The result is the agent's last message.",
  arguments: CodexReplyArguments,
  taskSupport: "optional",
})

/** All tools, in the order of `tools/list`. */
export const codexTools: ReadonlyArray<ToolDefinition> = [Codex, CodexReply]
