/**
 * The conversation tools: one definition each, from which input schema, output schema and decoder come. Names, argument
 * members (snake case) and results are those of the original's early typed tools (§2); the last five are ours.
 */
import * as Schema from "effect/Schema"
import { type JsonSchema, jsonSchemaOf } from "../JsonSchema.ts"
import type { Pure } from "../Method.ts"
import { AskForApproval, SandboxMode } from "../Policy.ts"
import { InputItem } from "../ResponseItem.ts"
import type { ToolAnnotations, ToolDefinition } from "./CodexTools.ts"
import type { TaskSupport } from "./Tasks.ts"

const tool = <A extends Pure>(options: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  readonly arguments: A
  readonly output: Pure
  readonly taskSupport?: TaskSupport
}): ToolDefinition<A> => {
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

/** A failed call has `message` alone: clients hold failures to the output schema, too. */
const outcome = <const F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct({
    ...fields,
    message: optional(Schema.String, "Why the call failed; then nothing else is there."),
  })

const id = {
  conversation_id: required(
    Schema.String,
    "The conversation: a result of `conversationCreate`, or `threadId` of a result of `codex`.",
  ),
}

/** Of results. */
const named = { conversation_id: optional(Schema.String, "The conversation.") }

const local: ToolAnnotations = { openWorldHint: false }
const looks: ToolAnnotations = { ...local, readOnlyHint: true }

const overrides = {
  model: optional(Schema.String, "Name of the model, as its provider calls it."),
  cwd: optional(
    Schema.String,
    "Directory the agent works in. A relative path is taken from the directory of the server.",
  ),
  approval_policy: optional(AskForApproval, "When to ask before a command or an edit."),
  sandbox: optional(SandboxMode, "What commands may touch."),
  config: optional(
    Schema.Record(Schema.String, Schema.Unknown),
    "Settings that win over config.toml. A key may be a dotted path, such as `model_providers.local.base_url`.",
  ),
  profile: optional(Schema.String, "Name of a profile in config.toml to take settings from."),
  base_instructions: optional(
    Schema.String,
    "Replaces the built-in system instructions of the agent.",
  ),
}
export type Overrides = {
  readonly [K in keyof typeof overrides]?: (typeof overrides)[K]["Type"]
}

export const ConversationCreate = tool({
  name: "conversationCreate",
  title: "Create a conversation",
  description:
    "Makes a conversation with a coding agent. Nothing runs yet: send messages with `conversationSendMessage`, watch with `conversationStream`.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  arguments: Schema.Struct({
    prompt: optional(
      Schema.String,
      "Not sent, as ever: the first message goes by `conversationSendMessage`.",
    ),
    ...overrides,
  }),
  output: outcome({ ...named, model: optional(Schema.String, "The model in effect.") }),
})

export const WhileRunning = Schema.Literals(["queue", "wait", "steer", "interrupt", "reject"])

export const ConversationSendMessage = tool({
  name: "conversationSendMessage",
  title: "Send a message",
  description:
    "Sends a message to a conversation and returns at once; the turn runs on. Follow it with `conversationStream` or `conversationWait`.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  arguments: Schema.Struct({
    ...id,
    content: required(Schema.Array(InputItem), "Texts and images, at least one."),
    parent_message_id: optional(
      Schema.String,
      "The message that this one follows: `message_id` of an earlier result. Where others came after it, this one goes to a fork that ends there, and the result names the fork.",
    ),
    ...overrides,
    while_running: optional(
      WhileRunning,
      "What becomes of the message while a turn runs: `queue` joins it (default), `wait` for a turn of its own after it (default with overrides, which then count from that turn on), `steer` joins it and is an error when none runs, `interrupt` it and be the next, `reject` the message.",
    ),
  }),
  output: outcome({
    status: required(Schema.Literals(["ok", "error"]), "Whether the message was taken."),
    ...named,
    message_id: optional(Schema.String, "Names the message: that of its turn."),
  }),
})

export const ConversationStream = tool({
  name: "conversationStream",
  title: "Stream a conversation",
  description:
    "Is answered at once; then comes the notification `notifications/initial_state` with all events so far, and then each event under its own name, until the call is cancelled, another stream takes over or the conversation ends. Questions to a person wait while no stream is there.",
  annotations: { ...looks, idempotentHint: true },
  arguments: Schema.Struct({
    ...id,
    hold: optional(
      Schema.Boolean,
      "True: the call is answered when the stream has ended, so that a client that can only cancel what is open can pause it. Default false.",
    ),
  }),
  output: outcome({}),
})

export const ConversationsList = tool({
  name: "conversationsList",
  title: "List conversations",
  description: "The conversations of this server, newest first, a page at a time.",
  annotations: { ...looks, idempotentHint: true },
  arguments: Schema.Struct({
    limit: Schema.optionalKey(
      count("How many at most. Default 25; more than 100 are never given."),
    ),
    cursor: optional(Schema.String, "`next_cursor` of an earlier page."),
  }),
  output: outcome({
    conversations: optional(
      Schema.Array(Schema.Struct({ conversation_id: Schema.String, title: Schema.String })),
      "`title` is the beginning of the first message.",
    ),
    next_cursor: optional(Schema.String, "Where the next page begins; absent on the last."),
  }),
})

export const ConversationInterrupt = tool({
  name: "conversationInterrupt",
  title: "Interrupt a conversation",
  description:
    "Stops the turn that runs and drops the messages that wait. Returns at once; `turn_aborted` follows.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  arguments: Schema.Struct(id),
  output: outcome({
    ...named,
    interrupted: optional(Schema.Boolean, "False when no turn ran."),
  }),
})

const Status = Schema.Literals(["idle", "running", "waiting_for_approval"])

export const ConversationStatus = tool({
  name: "conversationStatus",
  title: "Look at a conversation",
  description: "What a conversation does at the moment.",
  annotations: { ...looks, idempotentHint: true },
  arguments: Schema.Struct(id),
  output: outcome({
    ...named,
    status: optional(Status, "Whether a turn runs, and whether it waits for a person."),
    message_id: optional(Schema.String, "The message whose turn runs."),
    waiting_messages: optional(Schema.Int, "Messages that wait for a turn of their own."),
    open_questions: optional(Schema.Int, "Questions that nobody has answered yet."),
    events: optional(Schema.Int, "How many events there are, deltas left out."),
    streaming: optional(Schema.Boolean, "Whether some client streams it."),
    model: optional(Schema.String, "The model in effect."),
    cwd: optional(Schema.String, "The directory the agent works in."),
    approval_policy: optional(AskForApproval, "The policy in effect."),
    total_tokens: optional(Schema.Int, "Tokens of all requests, where the provider tells."),
  }),
})

/** In milliseconds. */
export const waitBounds = { default: 30_000, max: 600_000 } as const

export const ConversationWait = tool({
  name: "conversationWait",
  title: "Wait for a conversation",
  description:
    "Returns when no turn runs or waits any more, with the agent's last message, or when the time is over.",
  annotations: { ...looks, idempotentHint: true },
  taskSupport: "optional",
  arguments: Schema.Struct({
    ...id,
    timeout_ms: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: waitBounds.max })).annotate({
        description: "How long to wait in milliseconds, at most 600000. Default 30000.",
      }),
    ),
  }),
  output: outcome({
    ...named,
    status: optional(Status, "`idle`, or what it still does when the time is over."),
    timed_out: optional(Schema.Boolean, "True when the time was over first."),
    last_agent_message: optional(
      Schema.NullOr(Schema.String),
      "Of the last turn that ended; null when it said nothing or was interrupted.",
    ),
  }),
})

export const ConversationFork = tool({
  name: "conversationFork",
  title: "Fork a conversation",
  description:
    "Makes a conversation of another one's beginning. A turn that runs there is left out and goes on.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  arguments: Schema.Struct({
    ...id,
    drop_last_messages: Schema.optionalKey(
      count(
        "How many messages of the user, counted from the last, are left out with what followed. Default 0.",
      ),
    ),
    before_message: Schema.optionalKey(
      count("Instead: the message of the user, counted from 0, before which the fork ends."),
    ),
  }),
  output: outcome({ ...named, model: optional(Schema.String, "The model in effect.") }),
})

export const ConversationRemove = tool({
  name: "conversationRemove",
  title: "Remove a conversation",
  description: "Ends a conversation, stops what runs in it and forgets it for good.",
  annotations: { ...local, readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  arguments: Schema.Struct(id),
  output: outcome(named),
})

/** In the order of `tools/list`. */
export const conversationTools: ReadonlyArray<ToolDefinition> = [
  ConversationCreate,
  ConversationSendMessage,
  ConversationStream,
  ConversationsList,
  ConversationInterrupt,
  ConversationStatus,
  ConversationWait,
  ConversationFork,
  ConversationRemove,
]
