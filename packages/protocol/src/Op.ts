/** What a client submits to a conversation (§4.1), tagged by `type`, snake_case as in the original. */
import * as Schema from "effect/Schema"
import {
  AskForApproval,
  ReasoningEffort,
  ReasoningSummary,
  ReviewDecision,
  SandboxPolicy,
} from "./Policy.ts"
import { InputItem } from "./ResponseItem.ts"

const op = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...fields })

const approval = {
  id: Schema.String,
  decision: ReviewDecision,
  /** Number of the event that put the question: the answer counts for that question alone. Not in the original. */
  question: Schema.optionalKey(Schema.Int),
}

export const Op = Schema.Union([
  op("interrupt", {}),
  op("user_input", { items: Schema.Array(InputItem) }),
  /** Like `user_input`, and the context stays for later turns. */
  op("user_turn", {
    items: Schema.Array(InputItem),
    cwd: Schema.String,
    approval_policy: AskForApproval,
    sandbox_policy: SandboxPolicy,
    model: Schema.String,
    effort: Schema.optionalKey(Schema.NullOr(ReasoningEffort)),
    summary: ReasoningSummary,
    base_instructions: Schema.optionalKey(Schema.String),
    final_output_json_schema: Schema.optionalKey(Schema.Unknown),
  }),
  /** An absent member keeps its value; `effort: null` clears it. */
  op("override_turn_context", {
    cwd: Schema.optionalKey(Schema.String),
    approval_policy: Schema.optionalKey(AskForApproval),
    sandbox_policy: Schema.optionalKey(SandboxPolicy),
    model: Schema.optionalKey(Schema.String),
    effort: Schema.optionalKey(Schema.NullOr(ReasoningEffort)),
    summary: Schema.optionalKey(ReasoningSummary),
    /** Not in the original. */
    base_instructions: Schema.optionalKey(Schema.String),
  }),
  op("exec_approval", approval),
  op("patch_approval", approval),
  /**
   * Answers an `elicitation_request`; not in this form in the original. `content` counts with `accept` alone; more than
   * 64 Ki characters of it as JSON are an answer that cannot be read: the question is declined, reason `malformed`.
   */
  op("elicitation_answer", {
    id: Schema.String,
    action: Schema.Literals(["accept", "decline", "cancel"]),
    content: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    /** As in `exec_approval`. */
    question: Schema.optionalKey(Schema.Int),
  }),
  op("add_to_history", { text: Schema.String }),
  op("get_history_entry_request", { offset: Schema.Int, log_id: Schema.Int }),
  op("get_path", {}),
  op("list_mcp_tools", {}),
  op("list_custom_prompts", {}),
  op("compact", {}),
  op("review", {
    review_request: Schema.Struct({ prompt: Schema.String, user_facing_hint: Schema.String }),
  }),
  op("shutdown", {}),
])
export type Op = typeof Op.Type
