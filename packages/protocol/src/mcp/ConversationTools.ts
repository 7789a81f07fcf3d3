/**
 * The conversation tools: one definition each, from which the input schema, the output schema and the decoder are derived.
 * Names, arguments (snake case) and results are those of tools that early versions of the original had; the last five are
 * not in the original. The wire: packages/docs/wire/codex-mcp.md.
 */
import * as Schema from "effect/Schema"
import { type JsonSchema, jsonSchemaOf } from "../JsonSchema.ts"
import type { Pure } from "../Method.ts"
import { AskForApproval, SandboxMode } from "../Policy.ts"
import { InputItem } from "../ResponseItem.ts"
import type { ToolAnnotations, ToolDefinition } from "./CodexTools.ts"
import type { TaskSupport } from "./Tasks.ts"

const tool = <A extends Pure, const Name extends string>(options: {
  readonly name: Name
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly arguments: A
  readonly output: Pure
  readonly taskSupport?: TaskSupport
}): ToolDefinition<A, Name> => {
  const { output, ...definition } = options
  let inputSchema: JsonSchema | undefined
  let outputSchema: JsonSchema | undefined
  return {
    ...definition,
    get inputSchema() {
      return (inputSchema ??= jsonSchemaOf(options.arguments, { closed: true }))
    },
    get outputSchema() {
      return (outputSchema ??= jsonSchemaOf(output))
    },
  }
}

const required = <S extends Schema.Top>(schema: S, description: string) =>
  schema.annotate({ description })

const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

const count = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff })).annotate({ description })

/** The output of a tool. A failed call has only `message`: clients check failures against the output schema as well. */
const outcome = <const F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct({
    ...fields,
    message: optional(Schema.String, "Reason, if the call failed."),
  })

const id = {
  conversation_id: required(
    Schema.String,
    "Id of the conversation: `threadId` of a result of `codex`.",
  ),
}

/** The conversation that a result is about. */
const named = { conversation_id: Schema.optionalKey(Schema.String) }

const local: ToolAnnotations = { openWorldHint: false }
const looks: ToolAnnotations = { ...local, readOnlyHint: true }

const overrides = {
  model: optional(Schema.String, "Name of the model at its provider."),
  cwd: optional(Schema.String, "Working directory of the agent."),
  approval_policy: optional(AskForApproval, "When a person is asked first."),
  sandbox: optional(SandboxMode, "What commands may change."),
  config: optional(
    Schema.Record(Schema.String, Schema.Unknown),
    "Settings that override config.toml, by key or dotted path.",
  ),
  profile: optional(Schema.String, "Profile in config.toml."),
  base_instructions: optional(Schema.String, "Replaces the system instructions of the agent."),
}
/** Settings that the tools accept for a conversation. */
export type Overrides = {
  readonly [K in keyof typeof overrides]?: (typeof overrides)[K]["Type"]
}

/** Creates a conversation. */
export const ConversationCreate = tool({
  name: "conversationCreate",
  title: "Create a conversation",
  description:
    "Creates a conversation with a coding agent. No turn runs until `conversationSendMessage`.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  arguments: Schema.Struct({
    prompt: optional(
      Schema.String,
      "Ignored, as in the original: send messages with `conversationSendMessage`.",
    ),
    ...overrides,
  }),
  output: outcome({ ...named, model: optional(Schema.String, "Model in effect.") }),
})

/** What happens to a message while a turn is running. */
export const WhileRunning = Schema.Literals(["queue", "wait", "steer", "interrupt", "reject"])

/** Submits a message. */
export const ConversationSendMessage = tool({
  name: "conversationSendMessage",
  title: "Send a message",
  description:
    "Sends a message to a conversation and returns at once. Wait for its turn with `conversationWait`.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  arguments: Schema.Struct({
    ...id,
    content: required(Schema.Array(InputItem), "At least one text or image."),
    parent_message_id: optional(
      Schema.String,
      "`message_id` of the message that this one follows. If later messages exist, this one goes to a new fork, which the result names.",
    ),
    ...overrides,
    while_running: optional(
      WhileRunning,
      "If a turn is running: `queue` the message into it (default), `wait` for its end (default with settings, which apply from then on), `steer` it, which is an error without a running turn, `interrupt` it, or `reject` the message.",
    ),
  }),
  output: outcome({
    status: required(Schema.Literals(["ok", "error"]), "Whether the message was accepted."),
    ...named,
    message_id: optional(Schema.String, "Id of the message and of its turn."),
  }),
})

/** Streams the events of a conversation. */
export const ConversationStream = tool({
  name: "conversationStream",
  title: "Stream a conversation",
  description:
    "Returns at once, then sends `notifications/initial_state` with all events so far and each later event under its own name, until the call is cancelled, another stream starts or the conversation ends. Without a stream, questions to a person wait.",
  annotations: { ...looks, idempotentHint: true },
  arguments: Schema.Struct({
    ...id,
    hold: optional(
      Schema.Boolean,
      "True: return when the stream has ended, for clients that can only cancel open calls. Default false.",
    ),
  }),
  output: outcome({}),
})

/** Lists conversations. */
export const ConversationsList = tool({
  name: "conversationsList",
  title: "List conversations",
  description: "Lists the conversations of this server, newest first, in pages.",
  annotations: { ...looks, idempotentHint: true },
  arguments: Schema.Struct({
    limit: Schema.optionalKey(count("Size of a page. Default 25, at most 100.")),
    cursor: optional(Schema.String, "`next_cursor` of an earlier page."),
  }),
  output: outcome({
    conversations: optional(
      Schema.Array(Schema.Struct({ conversation_id: Schema.String, title: Schema.String })),
      "`title`: beginning of the first message.",
    ),
    next_cursor: optional(Schema.String, "`cursor` of the next page; absent on the last."),
  }),
})

/** Interrupts the running turn. */
export const ConversationInterrupt = tool({
  name: "conversationInterrupt",
  title: "Interrupt a conversation",
  description:
    "Stops the running turn and discards waiting messages. Returns at once; `turn_aborted` follows.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  arguments: Schema.Struct(id),
  output: outcome({
    ...named,
    interrupted: optional(Schema.Boolean, "False if no turn was running."),
  }),
})

const Status = Schema.Literals(["idle", "running", "waiting_for_approval"])

/** Reports the state of a conversation. */
export const ConversationStatus = tool({
  name: "conversationStatus",
  title: "Look at a conversation",
  description: "Returns the current state of a conversation.",
  annotations: { ...looks, idempotentHint: true },
  arguments: Schema.Struct(id),
  output: outcome({
    ...named,
    status: optional(Status, "Whether a turn is running or waits for a person."),
    message_id: optional(Schema.String, "Message of the running turn."),
    waiting_messages: optional(Schema.Int, "Number of messages that wait for a later turn."),
    open_questions: optional(Schema.Int, "Number of unanswered questions."),
    events: optional(Schema.Int, "Number of events without deltas."),
    streaming: optional(Schema.Boolean, "Whether a client streams it."),
    model: optional(Schema.String, "Model in effect."),
    cwd: optional(Schema.String, "Working directory in effect."),
    approval_policy: optional(AskForApproval, "Policy in effect."),
    total_tokens: optional(
      Schema.Int,
      "Tokens of all model requests, if the provider reports them.",
    ),
  }),
})

/** Timeouts of `conversationWait` in milliseconds. */
export const waitBounds = { default: 30_000, max: 600_000 } as const

/** Waits until no turn is running. */
export const ConversationWait = tool({
  name: "conversationWait",
  title: "Wait for a conversation",
  description:
    "Returns the agent's last message when no turn is running or waiting, or the current state after a timeout.",
  annotations: { ...looks, idempotentHint: true },
  taskSupport: "optional",
  arguments: Schema.Struct({
    ...id,
    timeout_ms: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: waitBounds.max })).annotate({
        description: "Timeout in milliseconds. Default 30000, at most 600000.",
      }),
    ),
  }),
  output: outcome({
    ...named,
    status: optional(Status, "`idle`, or the state at the timeout."),
    timed_out: optional(Schema.Boolean, "True after a timeout."),
    last_agent_message: optional(
      Schema.NullOr(Schema.String),
      "Of the last turn that ended; null if it has none.",
    ),
  }),
})

/** Creates a conversation from the beginning of another one. */
export const ConversationFork = tool({
  name: "conversationFork",
  title: "Fork a conversation",
  description:
    "Creates a conversation from the beginning of another one, without its running turn, which continues.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  arguments: Schema.Struct({
    ...id,
    drop_last_messages: Schema.optionalKey(
      count("Number of last user messages to leave out, with all that followed. Default 0."),
    ),
    before_message: Schema.optionalKey(
      count("Instead: index of the user message before which the fork ends, from 0."),
    ),
  }),
  output: outcome({ ...named, model: optional(Schema.String, "Model in effect.") }),
})

/** Deletes a conversation. */
export const ConversationRemove = tool({
  name: "conversationRemove",
  title: "Remove a conversation",
  description: "Stops a conversation and deletes it.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  arguments: Schema.Struct(id),
  output: outcome(named),
})

const tools = [
  ConversationCreate,
  ConversationSendMessage,
  ConversationStream,
  ConversationsList,
  ConversationInterrupt,
  ConversationStatus,
  ConversationWait,
  ConversationFork,
  ConversationRemove,
] as const
/** The names of the conversation tools. */
export type ConversationToolName = (typeof tools)[number]["name"]

/** In the order of `tools/list`. */
export const conversationTools: ReadonlyArray<ToolDefinition<Pure, ConversationToolName>> = tools
