/**
 * What `elicitation/create` carries in this dialect: the question with the original's members (§1.10), the form of its
 * answer, and how an answer of any client is read. Keeps its part of L7: what does not plainly allow allows nothing.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ParsedCommand } from "../events/CommandEvents.ts"
import { FileChange } from "../events/PatchEvents.ts"
import { decodeOption, memberOf, presentMembers } from "../NullAsAbsent.ts"
import { ReviewDecision } from "../Policy.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const text = Schema.optionalKey(Schema.String)

/**
 * In the order of the recordings (0.29 `approve`, `patch_fn_approve`; 0.153 `on_request_escalated`). Questions that are
 * not about a command or a patch have none of the members of the original.
 */
export const ElicitParams = Schema.Struct({
  message: Schema.String,
  /** JSON Schema of the answer's `content`: an object of plain members. Every form has one. */
  requestedSchema: Schema.optionalKey(Open),
  /** The conversation; from 0.120 on. */
  threadId: text,
  /** `exec-approval` or `patch-approval`. */
  codex_elicitation: text,
  /** Id of the `tools/call`, as text. */
  codex_mcp_tool_call_id: text,
  /** Id of the event that told of the question. */
  codex_event_id: text,
  codex_call_id: text,
  codex_command: Schema.optionalKey(Schema.Array(Schema.String)),
  codex_cwd: text,
  /** From 0.77 on. Later versions know more kinds. */
  codex_parsed_cmd: Schema.optionalKey(Schema.Array(Schema.Union([ParsedCommand, Open]))),
  /** By absolute path. Servers of 0.77 and later write the changes in another shape. */
  codex_changes: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([FileChange, Open]))),
  codex_reason: text,
  codex_grant_root: text,
  /** Absent: `form`. */
  mode: text,
  /** Of mode `url` (2025-11-25): what the person opens, and, with `initialize`, what its end is told by. */
  url: text,
  elicitationId: text,
  _meta: Schema.optionalKey(Open),
})
export type ElicitParams = typeof ElicitParams.Type

/** The specification's answer. */
export const ElicitResult = Schema.Struct({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(Open),
})
export type ElicitResult = typeof ElicitResult.Type

/** What each decision is called in a form; in the order in which they are offered. */
const decisionTitles: Readonly<Record<ReviewDecision, string>> = {
  approved: "Yes",
  approved_for_session: "Yes, and as the question says for the session",
  denied: "No, go on without it",
  abort: "No, and stop",
}

/**
 * JSON Schema of the form that asks for a decision, in what every revision of the protocol allows for one. What the
 * decision is about is in the message of the question, and only there.
 */
export const decisionForm = (): Readonly<Record<string, unknown>> => ({
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      enum: Object.keys(decisionTitles),
      enumNames: Object.values(decisionTitles),
    },
  },
  required: ["decision"],
})

/** The answer of the specification that says this decision. */
export const decisionResult = (decision: ReviewDecision): ElicitResult => ({
  action: "accept",
  content: { decision },
})

type Members = Readonly<Record<string, unknown>>

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const readWord = Schema.decodeUnknownOption(ReviewDecision)

const word = (path: string, value: unknown): Result.Result<ReviewDecision, string> =>
  Option.match(readWord(value), {
    onNone: () =>
      Result.fail(`expected \`${path}\` to be one of ${ReviewDecision.literals.join(", ")}`),
    onSome: Result.succeed,
  })

/** An accepted form. Clients without forms accept without content, or with an empty one: a plain yes. */
const accepted = (answer: Members): Result.Result<ReviewDecision, string> => {
  const sent = memberOf(answer, "content") ?? {}
  if (!isMembers(sent)) return Result.fail("expected `content` to be an object")
  const content = presentMembers(sent)
  const inContent = memberOf(content, "decision")
  const beside = memberOf(answer, "decision")
  const given = [
    ...(inContent === undefined ? [] : [word("content.decision", inContent)]),
    ...(beside === undefined ? [] : [word("decision", beside)]),
  ]
  const [first, second = first] = given
  if (first === undefined || second === undefined) {
    return Object.keys(content).length === 0
      ? Result.succeed("approved")
      : Result.fail("expected `content.decision`")
  }
  if (Result.isFailure(first)) return first
  if (Result.isFailure(second)) return second
  return first.success === second.success
    ? first
    : Result.fail("expected `decision` and `content.decision` to be the same")
}

const readResult = decodeOption(ElicitResult)

/**
 * The specification's answer to a question that is not ours: passed through, with nothing else that came with it.
 * Fails with what is wrong, without the values.
 */
export const readElicitResult = (answer: unknown): Result.Result<ElicitResult, string> =>
  Option.match(readResult(answer), {
    onNone: () =>
      Result.fail("expected `action`, one of accept, decline, cancel, and `content`, an object"),
    onSome: ({ action, content }) =>
      Result.succeed(
        action === "accept" && content !== undefined
          ? { action, content: presentMembers(content) }
          : { action },
      ),
  })

/**
 * Declined and cancelled alike: clients without a person cancel every question, and their turn continues without what
 * was asked for. Only the explicit decision `abort` stops it; no other decision beside a refusal is read.
 */
const refused = (answer: Members): ReviewDecision =>
  memberOf(answer, "decision") === "abort" ? "abort" : "denied"

/**
 * The decision of an answer: `{ action: "accept", content: { decision } }`, a plain `accept` (`approved`), `decline` or
 * `cancel` (`denied`), or the original's `{ decision }`. Fails with the fault of the answer, without its values.
 */
export const readDecision = (answer: unknown): Result.Result<ReviewDecision, string> => {
  if (!isMembers(answer)) return Result.fail("expected an object with `action` or `decision`")
  switch (memberOf(answer, "action")) {
    case "accept":
      return accepted(answer)
    case "decline":
    case "cancel":
      return Result.succeed(refused(answer))
    case undefined: {
      const decision = memberOf(answer, "decision")
      return decision === undefined
        ? Result.fail("expected `action` or `decision`")
        : word("decision", decision)
    }
    default:
      return Result.fail("expected `action` to be one of accept, decline, cancel")
  }
}
