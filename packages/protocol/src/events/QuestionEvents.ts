/** Events about questions to a person that belong to no single tool, and the resolution of every question (L7). */
import * as Schema from "effect/Schema"
import { event } from "../EventDefinition.ts"
import { FurtherPermissions, ReviewDecision } from "../Policy.ts"

/**
 * The resolution of a question. Follows the request with the same `call_id`; without a request, no client was asked.
 * A resolution other than `answered` was made without a person's answer to this question:
 * - `granted`: an earlier `approved_for_session` covers it;
 * - `expired`: no answer came before the deadline;
 * - `withdrawn`: the turn ended, or the tool withdrew the question;
 * - `unattended`: no connected client can answer, and the conversation's setting `unattended` decided;
 * - `malformed`, `failed`: the answer could not be read, or sending the question failed;
 * - `shutdown`: the conversation ended.
 */
export const ApprovalResolved = event(
  "approval_resolved",
  {
    call_id: Schema.String,
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
    /** The grant that this answer made or that decided the question: the canonical text that is compared. */
    grant: Schema.optionalKey(Schema.String),
    /**
     * What an approval of further permissions grants, which is never more than was asked for: until the end of the turn, or
     * for the session with `approved_for_session`.
     */
    permissions: Schema.optionalKey(FurtherPermissions),
  },
  { doc: "A question was resolved: by a person's answer, or without one for the given reason." },
)
/** A question was resolved: by a person's answer, or without one for the given reason. */
export type ApprovalResolved = typeof ApprovalResolved.Type

/**
 * A tool server sends a form to a person. The original first declined such questions, and its later event of this name
 * has other members. `approval_resolved` with `id` as its `call_id` reports the resolution: `approved` is accepted,
 * `denied` declined, `abort` cancelled; none of them ends the turn. What the person filled in is sent to the tool server
 * only.
 */
export const ElicitationRequest = event(
  "elicitation_request",
  {
    /** Name of the tool server in the configuration. */
    server_name: Schema.String,
    /** Unique in the log. */
    id: Schema.String,
    message: Schema.String,
    /** JSON Schema of the object to be filled in. */
    requested_schema: Schema.Record(Schema.String, Schema.Unknown),
  },
  { doc: "A tool server asks a person to fill in a form.", audience: "codex-mcp" },
)
/** A tool server asks a person to fill in a form. */
export type ElicitationRequest = typeof ElicitationRequest.Type

/** One question of the agent. */
export const UserInputQuestion = Schema.Struct({
  /** Names the answer; unique in the request. */
  id: Schema.String,
  /** A short title. */
  header: Schema.String,
  question: Schema.String,
  /** True: a person may also answer with another text than the options. */
  is_other: Schema.Boolean,
  /** True: the answer is not to be shown while it is typed. */
  is_secret: Schema.Boolean,
  /** Null: any text answers. */
  options: Schema.NullOr(
    Schema.Array(Schema.Struct({ label: Schema.String, description: Schema.String })),
  ),
})
/** One question of the agent. */
export type UserInputQuestion = typeof UserInputQuestion.Type

/** Answers by the ids of the questions: labels of options, or other texts. */
export const UserInputAnswers = Schema.Record(
  Schema.String,
  Schema.Struct({ answers: Schema.Array(Schema.String) }),
)
/** Answers by the ids of the questions: labels of options, or other texts. */
export type UserInputAnswers = typeof UserInputAnswers.Type

/**
 * The agent asks a person questions. `approval_resolved` with the same `call_id` reports the resolution: `approved` is
 * answered, `denied` declined. The answers are sent to the model only.
 */
export const RequestUserInput = event(
  "request_user_input",
  { call_id: Schema.String, questions: Schema.Array(UserInputQuestion) },
  { doc: "The agent asks a person questions, and the turn waits for the answers." },
)
/** The agent asks a person questions, and the turn waits for the answers. */
export type RequestUserInput = typeof RequestUserInput.Type

/**
 * The agent asks for permissions that the sandbox does not give. `approval_resolved` with the same `call_id` reports the
 * resolution and what is granted.
 */
export const RequestPermissions = event(
  "request_permissions",
  {
    call_id: Schema.String,
    permissions: FurtherPermissions,
    /** Working directory of the conversation. */
    cwd: Schema.String,
    /** What the permissions allow, for a person. Text of the model is quoted. */
    reason: Schema.optionalKey(Schema.String),
    /** The model's own words, unchanged: why it asks. */
    justification: Schema.optionalKey(Schema.String),
  },
  { doc: "The agent asks a person for further permissions." },
)
/** The agent asks a person for further permissions. */
export type RequestPermissions = typeof RequestPermissions.Type
