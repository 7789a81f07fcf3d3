/**
 * Everything a conversation tells its listeners (§4.5): the September 2025 shapes, tagged by `type`.
 * Members that later generations added are optional. A schema list: over the usual size of a module.
 */
import * as Schema from "effect/Schema"
import {
  AskForApproval,
  ReasoningEffort,
  ReviewDecision,
  SandboxPolicy,
  TurnAbortReason,
} from "./Policy.ts"
import { ResponseItem, TokenUsage } from "./ResponseItem.ts"

/** `task_started` is the type `TaskStartedEvent` of the contract. */
const nameOf = (type: string): string =>
  `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`

const event = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...fields }).annotate({ identifier: nameOf(type) })

const callId = Schema.String
const command = Schema.Array(Schema.String)

/** `secs` whole seconds and `nanos` in [0, 1e9). */
export const WireDuration = Schema.Struct({ secs: Schema.Int, nanos: Schema.Int })
export type WireDuration = typeof WireDuration.Type

/** §4.4: externally tagged. */
export const FileChange = Schema.Union([
  Schema.Struct({ add: Schema.Struct({ content: Schema.String }) }),
  Schema.Struct({ delete: Schema.Struct({ content: Schema.String }) }),
  Schema.Struct({
    update: Schema.Struct({
      unified_diff: Schema.String,
      move_path: Schema.NullOr(Schema.String),
    }),
  }),
]).annotate({ identifier: "FileChange" })
export type FileChange = typeof FileChange.Type

export const ParsedCommand = Schema.Union([
  Schema.Struct({ type: Schema.Literal("read"), cmd: Schema.String, name: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("list_files"),
    cmd: Schema.String,
    path: Schema.NullOr(Schema.String),
  }),
  Schema.Struct({
    type: Schema.Literal("search"),
    cmd: Schema.String,
    query: Schema.NullOr(Schema.String),
    path: Schema.NullOr(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("unknown"), cmd: Schema.String }),
]).annotate({ identifier: "ParsedCommand" })
export type ParsedCommand = typeof ParsedCommand.Type

export const PlanItem = Schema.Struct({
  step: Schema.String,
  status: Schema.Literals(["pending", "in_progress", "completed"]),
}).annotate({ identifier: "PlanItem" })
export type PlanItem = typeof PlanItem.Type

const Invocation = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  arguments: Schema.NullOr(Schema.Unknown),
})

const RateLimits = Schema.Record(Schema.String, Schema.Unknown)

const TokenUsageInfo = Schema.Struct({
  total_token_usage: TokenUsage,
  last_token_usage: TokenUsage,
  model_context_window: Schema.NullOr(Schema.Int),
}).annotate({ identifier: "TokenUsageInfo" })

const ReviewOutput = Schema.Struct({
  findings: Schema.Array(
    Schema.Struct({
      title: Schema.String,
      body: Schema.String,
      confidence_score: Schema.Finite,
      priority: Schema.Int,
      code_location: Schema.Struct({
        absolute_file_path: Schema.String,
        line_range: Schema.Struct({ start: Schema.Int, end: Schema.Int }),
      }),
    }),
  ),
  overall_correctness: Schema.String,
  overall_explanation: Schema.String,
  overall_confidence_score: Schema.Finite,
})

// -- deltas: ephemeral, never kept in the event log

export const AgentMessageDelta = event("agent_message_delta", { delta: Schema.String })
export const AgentReasoningDelta = event("agent_reasoning_delta", { delta: Schema.String })
export const AgentReasoningRawContentDelta = event("agent_reasoning_raw_content_delta", {
  delta: Schema.String,
})
export const ExecCommandOutputDelta = event("exec_command_output_delta", {
  call_id: callId,
  stream: Schema.Literals(["stdout", "stderr"]),
  /** base64; the original sent byte arrays up to 0.36 */
  chunk: Schema.String,
})

// -- the life of a conversation and of a turn

export const SessionConfigured = event("session_configured", {
  session_id: Schema.String,
  model: Schema.String,
  reasoning_effort: Schema.optionalKey(ReasoningEffort),
  history_log_id: Schema.Int,
  history_entry_count: Schema.Int,
  initial_messages: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  rollout_path: Schema.optionalKey(Schema.String),
  // from 0.77 on
  thread_id: Schema.optionalKey(Schema.String),
  model_provider_id: Schema.optionalKey(Schema.String),
  approval_policy: Schema.optionalKey(AskForApproval),
  sandbox_policy: Schema.optionalKey(SandboxPolicy),
  cwd: Schema.optionalKey(Schema.String),
})
export const TaskStarted = event("task_started", {
  model_context_window: Schema.NullOr(Schema.Int),
})
export const TaskComplete = event("task_complete", {
  last_agent_message: Schema.NullOr(Schema.String),
})
export const TurnAborted = event("turn_aborted", { reason: TurnAbortReason })
export const ErrorEvent = event("error", { message: Schema.String })
export const TokenCount = event("token_count", {
  info: Schema.NullOr(TokenUsageInfo),
  rate_limits: Schema.optionalKey(Schema.NullOr(RateLimits)),
  // up to 0.29 the usage of the last response stood flat in the event (recording 0.29 `simple`)
  input_tokens: Schema.optionalKey(Schema.Int),
  cached_input_tokens: Schema.optionalKey(Schema.Int),
  output_tokens: Schema.optionalKey(Schema.Int),
  reasoning_output_tokens: Schema.optionalKey(Schema.Int),
  total_tokens: Schema.optionalKey(Schema.Int),
})

/**
 * The outcome of a question; not in the original, which told nobody. Follows the request of the same `call_id`, unless
 * nobody was asked: then it stands alone. What is not `answered` or `granted` by a person was decided without one:
 * - `granted`: an earlier `approved_for_session` covers it;
 * - `expired`: nobody answered in time;
 * - `withdrawn`: the turn ended, or the tool no longer asks;
 * - `unattended`: nobody could answer, the conversation's setting decided;
 * - `malformed`, `failed`: the answer could not be read, or asking went wrong;
 * - `shutdown`: the conversation ended.
 */
const ApprovalResolved = event("approval_resolved", {
  call_id: callId,
  decision: ReviewDecision,
  reason: Schema.Literals([
    "answered",
    "granted",
    "expired",
    "withdrawn",
    "unattended",
    "malformed",
    "failed",
    "shutdown",
  ]),
  /** What the session remembers from now on, or what it remembered: the canonical text that is compared. */
  grant: Schema.optionalKey(Schema.String),
})

/**
 * A tool server asks a person, in a form. Told of with these members by us alone: the original first declined such
 * questions, and its later event has other ones. `approval_resolved` with `id` as its `call_id` says what became of it:
 * `approved` is accepted, `denied` declined, `abort` cancelled, and none of them stops the turn. What was filled in goes
 * to the server and is told nobody else.
 */
const ElicitationRequest = event("elicitation_request", {
  /** In the configuration. */
  server_name: Schema.String,
  /** Unique in the log. */
  id: Schema.String,
  message: Schema.String,
  /** JSON Schema of the object to be filled in. */
  requested_schema: Schema.Record(Schema.String, Schema.Unknown),
})

/**
 * The history was summarised: for what comes after, everything before it is the initial context, one message with what
 * the person said, and `message` (§6.9). The original has it in its rollout file only, as the record `compacted`.
 */
const Compacted = event("compacted", {
  /** The summary. */
  message: Schema.String,
  /** True: what was said since the model's last answer was not part of the summary and stays behind it as it is. */
  keeps_input: Schema.optionalKey(Schema.Boolean),
})

/** Every variant, in the order of §4.5; the last six came later. */
export const EventMsg = Schema.Union([
  ErrorEvent,
  TaskStarted,
  TaskComplete,
  TokenCount,
  event("agent_message", { message: Schema.String }),
  event("user_message", {
    message: Schema.String,
    kind: Schema.optionalKey(
      Schema.Literals(["plain", "user_instructions", "environment_context"]),
    ),
    images: Schema.optionalKey(Schema.Array(Schema.String)),
  }),
  AgentMessageDelta,
  event("agent_reasoning", { text: Schema.String }),
  AgentReasoningDelta,
  event("agent_reasoning_raw_content", { text: Schema.String }),
  AgentReasoningRawContentDelta,
  event("agent_reasoning_section_break", {}),
  SessionConfigured,
  event("mcp_tool_call_begin", { call_id: callId, invocation: Invocation }),
  event("mcp_tool_call_end", {
    call_id: callId,
    invocation: Invocation,
    duration: WireDuration,
    result: Schema.Union([
      Schema.Struct({ Ok: Schema.Unknown }),
      Schema.Struct({ Err: Schema.String }),
    ]),
  }),
  event("web_search_begin", { call_id: callId }),
  event("web_search_end", { call_id: callId, query: Schema.String }),
  event("exec_command_begin", {
    call_id: callId,
    command,
    cwd: Schema.String,
    parsed_cmd: Schema.optionalKey(Schema.Array(ParsedCommand)),
  }),
  ExecCommandOutputDelta,
  event("exec_command_end", {
    call_id: callId,
    stdout: Schema.String,
    stderr: Schema.String,
    aggregated_output: Schema.optionalKey(Schema.String),
    exit_code: Schema.Int,
    duration: WireDuration,
    formatted_output: Schema.optionalKey(Schema.String),
  }),
  event("exec_approval_request", {
    call_id: callId,
    command,
    cwd: Schema.String,
    reason: Schema.optionalKey(Schema.String),
    parsed_cmd: Schema.optionalKey(Schema.Array(ParsedCommand)),
  }),
  event("apply_patch_approval_request", {
    call_id: callId,
    changes: Schema.Record(Schema.String, FileChange),
    reason: Schema.optionalKey(Schema.String),
    grant_root: Schema.optionalKey(Schema.String),
  }),
  event("background_event", { message: Schema.String }),
  event("stream_error", { message: Schema.String }),
  event("patch_apply_begin", {
    call_id: callId,
    auto_approved: Schema.Boolean,
    changes: Schema.Record(Schema.String, FileChange),
  }),
  event("patch_apply_end", {
    call_id: callId,
    stdout: Schema.String,
    stderr: Schema.String,
    success: Schema.Boolean,
  }),
  event("turn_diff", { unified_diff: Schema.String }),
  event("get_history_entry_response", {
    offset: Schema.Int,
    log_id: Schema.Int,
    entry: Schema.optionalKey(
      Schema.Struct({
        conversation_id: Schema.String,
        ts: Schema.Int,
        text: Schema.String,
      }),
    ),
  }),
  event("mcp_list_tools_response", { tools: Schema.Record(Schema.String, Schema.Unknown) }),
  event("list_custom_prompts_response", {
    custom_prompts: Schema.Array(
      Schema.Struct({ name: Schema.String, path: Schema.String, content: Schema.String }),
    ),
  }),
  event("plan_update", {
    explanation: Schema.NullOr(Schema.String),
    plan: Schema.Array(PlanItem),
  }),
  TurnAborted,
  event("shutdown_complete", {}),
  event("conversation_path", { conversation_id: Schema.String, path: Schema.String }),
  event("entered_review_mode", { prompt: Schema.String, user_facing_hint: Schema.String }),
  event("exited_review_mode", { review_output: Schema.NullOr(ReviewOutput) }),
  event("raw_response_item", { item: ResponseItem }),
  event("view_image_tool_call", { call_id: callId, path: Schema.String }),
  event("warning", { message: Schema.String }),
  ApprovalResolved,
  ElicitationRequest,
  Compacted,
]).annotate({ identifier: "EventMsg" })
export type EventMsg = typeof EventMsg.Type

/** One variant by its tag. */
export type EventOf<T extends EventMsg["type"]> = Extract<EventMsg, { readonly type: T }>

const UnknownEventMsg = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Unknown),
])

/** What a client reads: a variant it knows, or the message as it came, which encodes back unchanged. */
export const AnyEventMsg = Schema.Union([EventMsg, UnknownEventMsg])
export type AnyEventMsg = typeof AnyEventMsg.Type

/** True for the variants that end a turn (L5). */
export const isTerminal = (
  msg: EventMsg,
): msg is EventOf<"task_complete"> | EventOf<"turn_aborted"> =>
  msg.type === "task_complete" || msg.type === "turn_aborted"

/** True for the variants that are delivered live and not kept. */
export const isEphemeral = (
  msg: EventMsg,
): msg is EventOf<
  | "agent_message_delta"
  | "agent_reasoning_delta"
  | "agent_reasoning_raw_content_delta"
  | "exec_command_output_delta"
> =>
  msg.type === "agent_message_delta" ||
  msg.type === "agent_reasoning_delta" ||
  msg.type === "agent_reasoning_raw_content_delta" ||
  msg.type === "exec_command_output_delta"

/**
 * An event of a conversation. `seq` counts the durable events from 0 without a gap (L4); an ephemeral one
 * carries the number of the durable event it follows. `id` is the submission it belongs to, `""` before the first.
 */
export interface Event {
  readonly seq: number
  readonly id: string
  readonly msg: EventMsg
}
