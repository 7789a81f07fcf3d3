/** Events about the life of a conversation and of its turns, and notices that belong to no item. */
import * as Schema from "effect/Schema"
import { event, original, textDeltas } from "../EventDefinition.ts"
import { AskForApproval, ReasoningEffort, SandboxPolicy, TurnAbortReason } from "../Policy.ts"
import { TokenUsage } from "../ResponseItem.ts"

const RateLimits = Schema.Record(Schema.String, Schema.Unknown)

const TokenUsageInfo = Schema.Struct({
  total_token_usage: TokenUsage,
  last_token_usage: TokenUsage,
  model_context_window: Schema.NullOr(Schema.Int),
}).annotate({ identifier: "TokenUsageInfo" })

/** The event `session_configured`; its `doc` describes it. */
export const SessionConfigured = event(
  "session_configured",
  {
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
  },
  {
    doc: "The first event of a conversation (L3): its id and its settings. The app-server of the original reports it in a separate notification.",
    since: "0.25",
    audience: "codex-mcp",
  },
)
/**
 * The first event of a conversation (L3): its id and its settings. The app-server of the original reports it in a
 * separate notification.
 */
export type SessionConfigured = typeof SessionConfigured.Type

/** The event `task_started`; its `doc` describes it. */
export const TaskStarted = event(
  "task_started",
  {
    model_context_window: Schema.NullOr(Schema.Int),
    /** The command that a turn of `run_user_shell_command` runs. Not in the original. */
    user_shell_command: Schema.optionalKey(Schema.String),
  },
  { ...original, doc: "A turn has started." },
)
/** A turn has started. */
export type TaskStarted = typeof TaskStarted.Type

/** The event `task_complete`; its `doc` describes it. */
export const TaskComplete = event(
  "task_complete",
  { last_agent_message: Schema.NullOr(Schema.String) },
  { ...original, doc: "A turn has ended by itself.", ends: true, completes: textDeltas },
)
/** A turn has ended by itself. */
export type TaskComplete = typeof TaskComplete.Type

/** The event `turn_aborted`; its `doc` describes it. */
export const TurnAborted = event(
  "turn_aborted",
  { reason: TurnAbortReason },
  {
    ...original,
    doc: "A turn was interrupted, replaced by another one, or cut off by the end of the process.",
    ends: true,
    inRollout: true,
    completes: textDeltas,
  },
)
/** A turn was interrupted, replaced by another one, or cut off by the end of the process. */
export type TurnAborted = typeof TurnAborted.Type

/** Which images of the history later requests leave out: `count` of them, after the first `skip`. */
const RefusedImages = Schema.Struct({ skip: Schema.Int, count: Schema.Int }).annotate({
  identifier: "RefusedImages",
})
/** Which images of the history later requests leave out: `count` of them, after the first `skip`. */
export type RefusedImages = typeof RefusedImages.Type

/** The event `error`; its `doc` describes it. */
export const ErrorEvent = event(
  "error",
  {
    message: Schema.String,
    /** The images that the provider refused and a text replaces in the history. Not in the original. */
    refused_images: Schema.optionalKey(RefusedImages),
  },
  { ...original, doc: "The turn cannot continue. Its terminal event follows." },
)
/** The turn cannot continue. Its terminal event follows. */
export type ErrorEvent = typeof ErrorEvent.Type

/** The event `stream_error`; its `doc` describes it. */
export const StreamError = event(
  "stream_error",
  {
    message: Schema.String,
    /** As in `error`. */
    refused_images: Schema.optionalKey(RefusedImages),
  },
  {
    ...original,
    doc: "The connection to the model failed; the request is sent again. The text that was received so far is discarded.",
    synced: false,
    completes: textDeltas,
  },
)
/** The connection to the model failed; the request is sent again. The text that was received so far is discarded. */
export type StreamError = typeof StreamError.Type

/** The event `background_event`; its `doc` describes it. */
export const BackgroundEvent = event(
  "background_event",
  { message: Schema.String },
  { ...original, doc: "A note about what the server is doing.", synced: false },
)
/** A note about what the server is doing. */
export type BackgroundEvent = typeof BackgroundEvent.Type

/** The event `warning`; its `doc` describes it. */
export const Warning = event(
  "warning",
  { message: Schema.String },
  {
    ...original,
    doc: "Something did not work as configured; the turn continues.",
    since: "0.120",
    synced: false,
  },
)
/** Something did not work as configured; the turn continues. */
export type Warning = typeof Warning.Type

/** The event `token_count`; its `doc` describes it. */
export const TokenCount = event(
  "token_count",
  {
    info: Schema.NullOr(TokenUsageInfo),
    rate_limits: Schema.optionalKey(Schema.NullOr(RateLimits)),
    // Up to 0.29 the usage of the last response was flat in the event:
    // packages/server/test/fixtures/v0.29.0/simple.jsonl
    input_tokens: Schema.optionalKey(Schema.Int),
    cached_input_tokens: Schema.optionalKey(Schema.Int),
    output_tokens: Schema.optionalKey(Schema.Int),
    reasoning_output_tokens: Schema.optionalKey(Schema.Int),
    total_tokens: Schema.optionalKey(Schema.Int),
  },
  {
    ...original,
    doc: "A response of the model is complete: the tokens that it used, and the provider's rate limits.",
    synced: false,
    inRollout: true,
    // A text that no item repeated must not be joined with the text of the next response.
    completes: textDeltas,
  },
)
/** A response of the model is complete: the tokens that it used, and the provider's rate limits. */
export type TokenCount = typeof TokenCount.Type

/** The original has it in its rollout file only, as the record `compacted`. */
export const Compacted = event(
  "compacted",
  {
    /** The summary. */
    message: Schema.String,
    /** True: the input since the model's last answer was not summarised, and follows the summary unchanged. */
    keeps_input: Schema.optionalKey(Schema.Boolean),
  },
  {
    doc: "The history was replaced by the initial context, one message that quotes the user's messages, and the summary `message`.",
  },
)
/**
 * The history was replaced by the initial context, one message that quotes the user's messages, and the summary
 * `message`.
 */
export type Compacted = typeof Compacted.Type

/** The original has it in its rollout file. */
export const ThreadRolledBack = event(
  "thread_rolled_back",
  {
    /** Number of the user's messages that were dropped. */
    num_turns: Schema.Int,
    /** Id of the first turn that was dropped. Not in the original, whose files have only the number. */
    turn_id: Schema.optionalKey(Schema.String),
  },
  {
    doc: "The end of the conversation was dropped, from the turn `turn_id` on. The dropped events stay in the log.",
    inRollout: true,
  },
)
/** The end of the conversation was dropped, from the turn `turn_id` on. The dropped events stay in the log. */
export type ThreadRolledBack = typeof ThreadRolledBack.Type
/** The event `read_marked`; its `doc` describes it. */
export const ReadMarked = event(
  "read_marked",
  {
    /** False: they are unread. */
    read: Schema.Boolean,
  },
  { doc: "The turns so far were marked as read, or as unread." },
)
/** The turns so far were marked as read, or as unread. */
export type ReadMarked = typeof ReadMarked.Type

/** The event `queue_changed`; its `doc` describes it. */
export const QueueChanged = event(
  "queue_changed",
  {
    /** Ids of the submissions in the queue, in their order. */
    ids: Schema.Array(Schema.String),
  },
  {
    doc: "The queue of input has changed: input was added, edited, moved or removed, or has started a turn.",
    synced: false,
  },
)
/** The queue of input has changed: input was added, edited, moved or removed, or has started a turn. */
export type QueueChanged = typeof QueueChanged.Type

/** The event `shutdown_complete`; its `doc` describes it. */
export const ShutdownComplete = event(
  "shutdown_complete",
  {},
  {
    ...original,
    doc: "The conversation has ended at a client's request. It is the last event.",
    synced: false,
  },
)
/** The conversation has ended at a client's request. It is the last event. */
export type ShutdownComplete = typeof ShutdownComplete.Type
