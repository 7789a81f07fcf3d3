/**
 * The items of a thread: what a client shows of a turn. `item/started` and `item/completed` carry one, and turns and lists
 * contain them. The wire: packages/docs/wire/app-server-v2.md.
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { atMs, none, orNull, UserInput } from "./Values.ts"

const item = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({
    type: Schema.Literal(type),
    id: Schema.String,
    ...fields,
    // Times of records, so that an item that is read back has those that were notified. The beginning of a message or of
    // reasoning is not recorded: a completed one has the times of its first and its last record.
    startedAtMs: orNull(atMs),
    completedAtMs: orNull(atMs),
  }).annotate({ identifier: `${type.slice(0, 1).toUpperCase()}${type.slice(1)}Item` })

/** What the user wrote. */
export const UserMessage = item("userMessage", {
  /** Id that the client gave it. */
  clientId: orNull(Schema.String),
  content: Schema.Array(UserInput),
})
/** What the user wrote. */
export type UserMessage = typeof UserMessage.Type

/** What the model wrote. It starts with an empty text. */
export const AgentMessage = item("agentMessage", {
  text: Schema.String,
  phase: orNull(Schema.Literals(["commentary", "partial_answer", "final_answer"])),
  moderation: none,
  memoryCitation: none,
  delivery: none,
  questions: none,
})
/** What the model wrote. */
export type AgentMessage = typeof AgentMessage.Type

/** What the model thought, by sections. */
export const Reasoning = item("reasoning", {
  summary: Schema.Array(Schema.String),
  /** Raw reasoning, where the provider gives it. */
  content: Schema.Array(Schema.String),
})
/** What the model thought. */
export type Reasoning = typeof Reasoning.Type

/** A plan that the model presents for approval. */
export const Plan = item("plan", { text: Schema.String })
/** A plan that the model presents for approval. */
export type Plan = typeof Plan.Type

/** What a command does, as far as its words say. */
export const CommandAction = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("read"),
    command: Schema.String,
    name: Schema.String,
    /** Absolute. */
    path: Schema.String,
  }),
  Schema.Struct({
    type: Schema.Literal("listFiles"),
    command: Schema.String,
    path: orNull(Schema.String),
  }),
  Schema.Struct({
    type: Schema.Literal("search"),
    command: Schema.String,
    query: orNull(Schema.String),
    path: orNull(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("unknown"), command: Schema.String }),
]).annotate({ identifier: "CommandAction" })
/** A decoded `CommandAction`. */
export type CommandAction = typeof CommandAction.Type

/** How far a command or a patch is. */
export const CallStatus = Schema.Literals(["inProgress", "completed", "failed", "declined"])

/** A command. */
export const CommandExecution = item("commandExecution", {
  /** One line, quoted for a shell. */
  command: Schema.String,
  cwd: Schema.String,
  processId: orNull(Schema.String),
  /** `agent` while its approval is pending. */
  source: Schema.Literals(["agent", "unifiedExecStartup", "unifiedExecInteraction", "userShell"]),
  status: CallStatus,
  commandActions: Schema.Array(CommandAction),
  /** Both streams, in the order in which they were written. */
  aggregatedOutput: orNull(Schema.String),
  exitCode: orNull(Schema.Int),
  durationMs: orNull(Schema.Int),
  pluginId: none,
  scriptPath: none,
})
/** A command. */
export type CommandExecution = typeof CommandExecution.Type

/** What a patch does to one file. */
export const FileUpdateChange = Schema.Struct({
  /** Absolute. */
  path: Schema.String,
  kind: Schema.Union([
    Schema.Struct({ type: Schema.Literals(["add", "delete"]) }),
    Schema.Struct({ type: Schema.Literal("update"), move_path: orNull(Schema.String) }),
  ]),
  /** The content of a file that is added or deleted; otherwise the hunks of a unified diff, without a file header. */
  diff: Schema.String,
}).annotate({ identifier: "FileUpdateChange" })
/** A decoded `FileUpdateChange`. */
export type FileUpdateChange = typeof FileUpdateChange.Type

/** A patch. */
export const FileChange = item("fileChange", {
  changes: Schema.Array(FileUpdateChange),
  status: CallStatus,
})
/** A patch. */
export type FileChange = typeof FileChange.Type

const ToolStatus = Schema.Literals(["inProgress", "completed", "failed"])

/** A call of a tool of an MCP server. */
export const McpToolCall = item("mcpToolCall", {
  server: Schema.String,
  tool: Schema.String,
  status: ToolStatus,
  arguments: Schema.Unknown,
  result: orNull(
    Schema.Struct({
      content: Schema.Array(Schema.Unknown),
      structuredContent: Schema.Unknown,
      _meta: Schema.Unknown,
    }),
  ),
  error: orNull(Schema.Struct({ message: Schema.String })),
  durationMs: orNull(Schema.Int),
  readOnlyHint: orNull(Schema.Boolean),
  appContext: none,
  mcpAppUi: none,
  mcpAppResourceUri: Schema.optionalKey(Schema.String),
  pluginId: none,
})
/** A call of a tool of an MCP server. */
export type McpToolCall = typeof McpToolCall.Type

/** One part of the result of a client's tool. */
export const ToolContent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("inputText"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("inputImage"), imageUrl: Schema.String }),
]).annotate({ identifier: "ToolContent" })
/** A decoded `ToolContent`. */
export type ToolContent = typeof ToolContent.Type

/** A call of a tool of the client, or of the embedding application. */
export const DynamicToolCall = item("dynamicToolCall", {
  namespace: orNull(Schema.String),
  tool: Schema.String,
  arguments: Schema.Unknown,
  status: ToolStatus,
  contentItems: orNull(Schema.Array(ToolContent)),
  success: orNull(Schema.Boolean),
  durationMs: orNull(Schema.Int),
})
/** A call of a tool of the client, or of the embedding application. */
export type DynamicToolCall = typeof DynamicToolCall.Type

/** An image file that the model read. */
export const ImageView = item("imageView", { path: Schema.String })
/** An image file that the model read. */
export type ImageView = typeof ImageView.Type

/** A search of the provider. */
export const WebSearch = item("webSearch", {
  query: Schema.String,
  action: orNull(
    Schema.Union([
      Schema.Struct({
        type: Schema.Literal("search"),
        query: orNull(Schema.String),
        queries: orNull(Schema.Array(Schema.String)),
      }),
      Schema.Struct({ type: Schema.Literal("openPage"), url: orNull(Schema.String) }),
      Schema.Struct({
        type: Schema.Literal("findInPage"),
        url: orNull(Schema.String),
        pattern: orNull(Schema.String),
      }),
      Schema.Struct({ type: Schema.Literal("other") }),
    ]),
  ),
  results: none,
})
/** A search of the provider. */
export type WebSearch = typeof WebSearch.Type

/** A review begins: what is reviewed, for a person. */
export const EnteredReviewMode = item("enteredReviewMode", { review: Schema.String })
/** A review begins. */
export type EnteredReviewMode = typeof EnteredReviewMode.Type

/** A review has ended: its findings as a text. */
export const ExitedReviewMode = item("exitedReviewMode", { review: Schema.String })
/** A review has ended. */
export type ExitedReviewMode = typeof ExitedReviewMode.Type

/** The history was replaced by a summary of it. */
export const ContextCompaction = item("contextCompaction", {})
/** The history was replaced by a summary of it. */
export type ContextCompaction = typeof ContextCompaction.Type

/** Every kind of item, by its `type`. */
export const ThreadItem = Schema.Union([
  UserMessage,
  AgentMessage,
  Reasoning,
  Plan,
  CommandExecution,
  FileChange,
  McpToolCall,
  DynamicToolCall,
  ImageView,
  WebSearch,
  EnteredReviewMode,
  ExitedReviewMode,
  ContextCompaction,
]).annotate({ identifier: "ThreadItem" })
/** A decoded `ThreadItem`. */
export type ThreadItem = typeof ThreadItem.Type

/**
 * An item that `ThreadItem` does not define: a later version may have added its type, or changed its shape. `sent` is the
 * item as it was sent, which encodes back unchanged.
 */
export interface UnknownItem {
  readonly type: "unknown_item"
  readonly sent: { readonly type: string; readonly [member: string]: unknown }
}

const SentItem = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Unknown),
])

const UnknownItem = SentItem.pipe(
  Schema.decodeTo(
    Schema.Struct({ type: Schema.Literal("unknown_item"), sent: Schema.toType(SentItem) }),
    SchemaTransformation.transform({
      decode: (sent) => ({ type: "unknown_item" as const, sent }),
      encode: ({ sent }) => sent,
    }),
  ),
)

/** What a client reads: an item it knows, or an `UnknownItem`; `type` tells which. */
export const AnyThreadItem = Schema.Union([ThreadItem, UnknownItem])
/** A decoded `AnyThreadItem`. */
export type AnyThreadItem = ThreadItem | UnknownItem
