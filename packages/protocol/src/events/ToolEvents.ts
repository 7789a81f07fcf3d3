/** Events about the other tools: tool servers, web search, images and the plan. */
import * as Schema from "effect/Schema"
import { event, original } from "../EventDefinition.ts"
import { ToolOutputPart } from "../ResponseItem.ts"
import { WireDuration } from "./WireDuration.ts"

const callId = Schema.String

/** A call of a tool server's tool. */
const Invocation = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  arguments: Schema.NullOr(Schema.Unknown),
})

/** One step of the agent's plan. */
export const PlanItem = Schema.Struct({
  step: Schema.String,
  status: Schema.Literals(["pending", "in_progress", "completed"]),
}).annotate({ identifier: "PlanItem" })
/** A decoded `PlanItem`. */
export type PlanItem = typeof PlanItem.Type

/** The event `mcp_tool_call_begin`; its `doc` describes it. */
export const McpToolCallBegin = event(
  "mcp_tool_call_begin",
  {
    call_id: callId,
    invocation: Invocation,
    /** What the server says of the tool: true, that it changes nothing. Absent where it says nothing. */
    read_only: Schema.optionalKey(Schema.Boolean),
  },
  { ...original, doc: "A tool of a tool server is being called.", synced: false },
)
/** A tool of a tool server is being called. */
export type McpToolCallBegin = typeof McpToolCallBegin.Type

/** The event `mcp_tool_call_progress`; its `doc` describes it. */
export const McpToolCallProgress = event(
  "mcp_tool_call_progress",
  {
    call_id: callId,
    /** How much is done, in a unit of the server's; it grows during the call. */
    progress: Schema.Finite,
    /** How much there is to do, in the same unit; absent where the server does not know. */
    total: Schema.optionalKey(Schema.Finite),
    /** What the server says of it to people. */
    message: Schema.optionalKey(Schema.String),
  },
  { doc: "A tool server reports the progress of a call that runs.", durable: false },
)
/** A tool server reports the progress of a call that runs. */
export type McpToolCallProgress = typeof McpToolCallProgress.Type

/** The event `mcp_tool_call_end`; its `doc` describes it. */
export const McpToolCallEnd = event(
  "mcp_tool_call_end",
  {
    call_id: callId,
    invocation: Invocation,
    duration: WireDuration,
    result: Schema.Union([
      Schema.Struct({ Ok: Schema.Unknown }),
      Schema.Struct({ Err: Schema.String }),
    ]),
  },
  { ...original, doc: "A call of a tool server's tool has ended.", synced: false },
)
/** A call of a tool server's tool has ended. */
export type McpToolCallEnd = typeof McpToolCallEnd.Type

/** The event `tool_call_begin`; its `doc` describes it. */
export const ToolCallBegin = event(
  "tool_call_begin",
  {
    call_id: callId,
    /** Name by which the model calls the tool; of a tool in a namespace, its name there. */
    tool: Schema.String,
    /** Of a tool of a client: the namespace that the client gave it. */
    namespace: Schema.optionalKey(Schema.String),
    /** As the handler gets them, in their encoded form. */
    arguments: Schema.Unknown,
  },
  {
    doc: "A tool of the embedding application or of a client is being called, or a tool has refused a call.",
    synced: false,
  },
)
/** A tool of the embedding application or of a client is being called, or a tool has refused a call. */
export type ToolCallBegin = typeof ToolCallBegin.Type

/** The event `tool_call_end`; its `doc` describes it. */
export const ToolCallEnd = event(
  "tool_call_end",
  {
    call_id: callId,
    tool: Schema.String,
    /** As in `tool_call_begin`. */
    namespace: Schema.optionalKey(Schema.String),
    duration: WireDuration,
    /** What a tool of a client has returned; absent where it returned nothing. */
    content: Schema.optionalKey(Schema.Array(ToolOutputPart)),
    /**
     * `Ok` is the encoded result of the handler, `Err` the text that the model reads in its place; of a tool of a client each
     * is the text of its content.
     */
    result: Schema.Union([
      Schema.Struct({ Ok: Schema.Unknown }),
      Schema.Struct({ Err: Schema.String }),
    ]),
  },
  {
    doc: "A call of a tool of the embedding application or of a client has ended, or a tool has refused a call.",
    synced: false,
  },
)
/** A call of a tool of the embedding application or of a client has ended, or a tool has refused a call. */
export type ToolCallEnd = typeof ToolCallEnd.Type

/**
 * A client is to run one of its tools (`clientTools` of the settings), and answers with the op `client_tool_result`. It follows
 * the `tool_call_begin` of the call. `approval_resolved` with the same `call_id` reports the end of the wait: `approved` where
 * a client has answered, whatever the tool says, and `denied` with the reason where none has.
 */
export const ClientToolCall = event(
  "client_tool_call",
  {
    call_id: callId,
    /** Name of the tool, in its namespace if it has one. */
    tool: Schema.String,
    namespace: Schema.optionalKey(Schema.String),
    /** They match the input schema of the tool. */
    arguments: Schema.Unknown,
  },
  { doc: "A client is to run one of its tools." },
)
/** A client is to run one of its tools. */
export type ClientToolCall = typeof ClientToolCall.Type

/** The event `tool_approval_request`; its `doc` describes it. */
export const ToolApprovalRequest = event(
  "tool_approval_request",
  {
    call_id: callId,
    tool: Schema.String,
    /** Name of the tool server in the configuration; absent for a tool of the embedding application. */
    server: Schema.optionalKey(Schema.String),
    arguments: Schema.Unknown,
    /** What the tool server says of the tool, such as `destructiveHint`. */
    annotations: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    reason: Schema.optionalKey(Schema.String),
  },
  { doc: "A call of a tool of the embedding application or of a tool server needs an approval." },
)
/** A call of a tool of the embedding application or of a tool server needs an approval. */
export type ToolApprovalRequest = typeof ToolApprovalRequest.Type

/** The event `mcp_list_tools_response`; its `doc` describes it. */
export const McpListToolsResponse = event(
  "mcp_list_tools_response",
  { tools: Schema.Record(Schema.String, Schema.Unknown) },
  { ...original, doc: "The tools of the tool servers, by name: the response to `list_mcp_tools`." },
)
/** The tools of the tool servers, by name: the response to `list_mcp_tools`. */
export type McpListToolsResponse = typeof McpListToolsResponse.Type

/** The event `web_search_begin`; its `doc` describes it. */
export const WebSearchBegin = event(
  "web_search_begin",
  { call_id: callId },
  { ...original, doc: "The model's provider is searching the web.", synced: false },
)
/** The model's provider is searching the web. */
export type WebSearchBegin = typeof WebSearchBegin.Type

/** The event `web_search_end`; its `doc` describes it. */
export const WebSearchEnd = event(
  "web_search_end",
  { call_id: callId, query: Schema.String },
  { ...original, doc: "A web search has ended.", synced: false },
)
/** A web search has ended. */
export type WebSearchEnd = typeof WebSearchEnd.Type

/** The event `view_image_tool_call`; its `doc` describes it. */
export const ViewImageToolCall = event(
  "view_image_tool_call",
  { call_id: callId, path: Schema.String },
  {
    ...original,
    doc: "The agent reads an image file.",
    since: "0.46",
    synced: false,
  },
)
/** The agent reads an image file. */
export type ViewImageToolCall = typeof ViewImageToolCall.Type

/** The event `plan_update`; its `doc` describes it. */
export const PlanUpdate = event(
  "plan_update",
  { explanation: Schema.NullOr(Schema.String), plan: Schema.Array(PlanItem) },
  { ...original, doc: "The agent has written or changed its plan.", synced: false },
)
/** The agent has written or changed its plan. */
export type PlanUpdate = typeof PlanUpdate.Type
