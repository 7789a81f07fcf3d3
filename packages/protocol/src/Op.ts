/**
 * What a client submits to a conversation, tagged by `type`, in snake_case as in the original. Which ops are accepted and
 * which are legacy is a property of their definitions here. The wire is described in packages/docs/wire/events.md.
 */
import * as Schema from "effect/Schema"
import { UserInputAnswers } from "./events/QuestionEvents.ts"
import {
  ApprovalQuestions,
  AskForApproval,
  CollaborationMode,
  FurtherPermissions,
  ReasoningEffort,
  ReasoningSummary,
  ReviewDecision,
  SandboxPolicy,
} from "./Policy.ts"
import { InputItem, ToolOutputPart } from "./ResponseItem.ts"

const op = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Object.assign(Schema.Struct({ type: Schema.Literal(type), ...fields }), {
    legacy: false as const,
  })

/** An op of the original that every conversation rejects with `UnsupportedOp`. */
const legacyOp = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Object.assign(Schema.Struct({ type: Schema.Literal(type), ...fields }), {
    legacy: true as const,
  })

/** Id that the client gives the message; its `user_message` event repeats it. Not in the original. */
const clientId = { client_id: Schema.optionalKey(Schema.String) }

/**
 * Not in the original in this form. Null: all that the policy asks. Absent: as before, or all where `approval_policy`
 * changes.
 */
const approvalQuestions = {
  approval_questions: Schema.optionalKey(Schema.NullOr(ApprovalQuestions)),
}

const approval = {
  id: Schema.String,
  decision: ReviewDecision,
  /**
   * Number of the event that asked the question: the answer counts for that question only, not for a later one with the
   * same id. Not in the original.
   */
  question: Schema.optionalKey(Schema.Int),
}

/** Every op, in the order of the original's definition. */
export const Op = Schema.Union([
  op("interrupt", {}),
  op("user_input", {
    items: Schema.Array(InputItem),
    /** JSON Schema that the answer of the turn has to match. Not used by input that joins a turn. */
    final_output_json_schema: Schema.optionalKey(Schema.Unknown),
    ...clientId,
  }),
  /** Like `user_input`, and its settings apply to later turns as well, except `final_output_json_schema`. */
  op("user_turn", {
    items: Schema.Array(InputItem),
    cwd: Schema.String,
    approval_policy: AskForApproval,
    ...approvalQuestions,
    sandbox_policy: SandboxPolicy,
    model: Schema.String,
    effort: Schema.optionalKey(Schema.NullOr(ReasoningEffort)),
    summary: ReasoningSummary,
    base_instructions: Schema.optionalKey(Schema.String),
    final_output_json_schema: Schema.optionalKey(Schema.Unknown),
    ...clientId,
  }),
  /** Changes settings for later turns. An absent member keeps its value; `effort: null` clears it. */
  op("override_turn_context", {
    cwd: Schema.optionalKey(Schema.String),
    approval_policy: Schema.optionalKey(AskForApproval),
    ...approvalQuestions,
    sandbox_policy: Schema.optionalKey(SandboxPolicy),
    model: Schema.optionalKey(Schema.String),
    effort: Schema.optionalKey(Schema.NullOr(ReasoningEffort)),
    summary: Schema.optionalKey(ReasoningSummary),
    /** Not in the original. */
    base_instructions: Schema.optionalKey(Schema.String),
    /** Not in the original in this form. */
    collaboration_mode: Schema.optionalKey(
      Schema.Struct({
        mode: CollaborationMode,
        /** Replaces the built-in instructions of the mode. */
        developer_instructions: Schema.optionalKey(Schema.String),
      }),
    ),
  }),
  op("exec_approval", approval),
  op("patch_approval", approval),
  /** Answers a `tool_approval_request`; not in the original. */
  op("tool_approval", approval),
  /**
   * Answers a `request_permissions`; not in the original in this form. An approval grants `permissions`, by default all that
   * was asked for, and never more than that: `approved` until the turn ends, `approved_for_session` for the session.
   */
  op("permissions_approval", {
    ...approval,
    permissions: Schema.optionalKey(FurtherPermissions),
  }),
  /**
   * Answers an `elicitation_request`; not in this form in the original. `content` counts with `accept` only. Content of
   * more than 64 Ki characters as JSON is an answer that cannot be read: the question is declined, reason `malformed`.
   */
  op("elicitation_answer", {
    id: Schema.String,
    action: Schema.Literals(["accept", "decline", "cancel"]),
    content: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    /** As in `exec_approval`. */
    question: Schema.optionalKey(Schema.Int),
  }),
  /**
   * Answers a `client_tool_call` with what the tool has returned; not in the original. `success` false: the tool has failed,
   * and the model reads why. An image that is no data URL is an answer that cannot be read.
   */
  op("client_tool_result", {
    id: Schema.String,
    success: Schema.Boolean,
    content: Schema.Array(ToolOutputPart),
    /** As in `exec_approval`. */
    question: Schema.optionalKey(Schema.Int),
  }),
  /**
   * Answers a `request_user_input`; a response of null declines. Answers of more than 64 Ki characters as JSON cannot be
   * read: the question is declined, reason `malformed`.
   */
  op("user_input_answer", {
    id: Schema.String,
    response: Schema.NullOr(Schema.Struct({ answers: UserInputAnswers })),
    /** As in `exec_approval`. Not in the original. */
    question: Schema.optionalKey(Schema.Int),
  }),
  legacyOp("add_to_history", { text: Schema.String }),
  legacyOp("get_history_entry_request", { offset: Schema.Int, log_id: Schema.Int }),
  legacyOp("get_path", {}),
  op("list_mcp_tools", {}),
  legacyOp("list_custom_prompts", {}),
  op("compact", {}),
  /**
   * Drops the turn with this id and all later ones: `thread_rolled_back` follows. A running turn is interrupted first, and
   * what waits for its end is dropped; input that comes behind it starts a turn after `thread_rolled_back`. Refused
   * `NoSuchTurn`. Not in the original in this form.
   */
  op("revert", { turn_id: Schema.String }),
  /** Replaces the input of a submission in the queue, which keeps its place. Not in the original. */
  op("edit_queued", { id: Schema.String, items: Schema.Array(InputItem) }),
  /** Removes a submission from the queue; it ends with `turn_aborted`. Not in the original. */
  op("remove_queued", { id: Schema.String }),
  /** Changes the order of the queue: `ids` are those of all its submissions. Not in the original. */
  op("reorder_queue", { ids: Schema.Array(Schema.String) }),
  /** Starts a turn with a submission in the queue, by default the first one. Not in the original. */
  op("start_queued", { id: Schema.optionalKey(Schema.String) }),
  /**
   * Runs a command of the user in the user's shell, under the sandbox policy of the conversation, as a turn of its own
   * without a request to the model, which reads the command and its output with the next turn. Never joins a turn.
   */
  op("run_user_shell_command", { command: Schema.String }),
  /**
   * Marks the turns of the conversation as read, or as unread: `read_marked` follows, unless they are already. Refused
   * `ReadingChanged` if `revision` is given and is not the number of the last event that has changed what is unread (-1:
   * none). Not in the original.
   */
  op("mark_read", { read: Schema.Boolean, revision: Schema.optionalKey(Schema.Int) }),
  /**
   * Starts a turn in which the model reviews: it is asked `prompt`, a person sees `user_facing_hint`. The turn accepts no
   * further input; a review never joins a running turn, but waits for its end.
   */
  op("review", {
    review_request: Schema.Struct({ prompt: Schema.String, user_facing_hint: Schema.String }),
  }),
  op("shutdown", {}),
])
/** A decoded `Op`. */
export type Op = typeof Op.Type

/** The ops of the original that every conversation rejects with `UnsupportedOp`. */
export type LegacyOp = Extract<(typeof Op.members)[number], { readonly legacy: true }>["Type"]

const legacyTypes: ReadonlySet<string> = new Set(
  Op.members.flatMap(({ fields, legacy }) => (legacy ? [fields.type.literal] : [])),
)

/** True for an op of the original that every conversation rejects with `UnsupportedOp`. */
export const isLegacyOp = (op: Op): op is LegacyOp => legacyTypes.has(op.type)
