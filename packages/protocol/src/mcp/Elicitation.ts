/**
 * `elicitation/create` in this dialect: its parameters with the members of the original, the form for the answer, and how
 * the answers of all clients are read. Keeps its part of L7: only an explicit approval approves. The wire:
 * packages/docs/wire/codex-mcp.md.
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
 * The members are in the order of the recordings (`approve.jsonl` and `patch_fn_approve.jsonl` in
 * packages/server/test/fixtures/v0.29.0, `on_request_escalated.jsonl` in v0.153.4). A question that is not about a command
 * or a patch has none of the members of the original.
 */
export const ElicitParams = Schema.Struct({
  message: Schema.String,
  /** JSON Schema of the answer's `content`: an object with members of simple types. Required for the mode `form`. */
  requestedSchema: Schema.optionalKey(Open),
  /** The conversation; from 0.120 on. */
  threadId: text,
  /** `exec-approval` or `patch-approval`; `tool-approval`, which is not in the original, for a tool of the application. */
  codex_elicitation: text,
  /** Id of the `tools/call`, as text. */
  codex_mcp_tool_call_id: text,
  /** Id of the event that reported the question. */
  codex_event_id: text,
  codex_call_id: text,
  codex_command: Schema.optionalKey(Schema.Array(Schema.String)),
  codex_cwd: text,
  /** From 0.77 on. Later versions have more kinds. */
  codex_parsed_cmd: Schema.optionalKey(Schema.Array(Schema.Union([ParsedCommand, Open]))),
  /** By absolute path. Servers of 0.77 and later send the changes in another shape. */
  codex_changes: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([FileChange, Open]))),
  /** Name and arguments with `tool-approval`. Not in the original. */
  codex_tool: text,
  codex_arguments: Schema.optionalKey(Schema.Unknown),
  codex_reason: text,
  codex_grant_root: text,
  /** Absent: `form`. */
  mode: text,
  /** With mode `url` (2025-11-25): the page that the person opens, and the id in the notification of its end. */
  url: text,
  elicitationId: text,
  _meta: Schema.optionalKey(Open),
})
/** A decoded `ElicitParams`. */
export type ElicitParams = typeof ElicitParams.Type

/** The result of a form, as MCP defines it. */
export const ElicitResult = Schema.Struct({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(Open),
})
/** A decoded `ElicitResult`. */
export type ElicitResult = typeof ElicitResult.Type

/** The titles of the decisions in a form, in the order in which they are offered. */
const decisionTitles: Readonly<Record<ReviewDecision, string>> = {
  approved: "Yes",
  approved_for_session: "Yes, and as the question says for the session",
  denied: "No, go on without it",
  abort: "No, and stop",
}

/**
 * JSON Schema of the form that asks for a decision, with the keywords that every revision of the protocol allows. The
 * message of the question says what is to be decided; the form does not repeat it.
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

/** The result of a form that expresses this decision. */
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

/** The decision of an accepted form. Clients that show no form accept without content or with an empty one: that approves. */
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
 * Reads the result for the form of a tool server: action and content, without other members. A failure names the fault and
 * does not contain values.
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
 * The decision of a form that was declined or cancelled: clients without a person cancel every question, and the turn
 * continues without the approval. Only an explicit decision `abort` interrupts it; other decisions are ignored here.
 */
const refused = (answer: Members): ReviewDecision =>
  memberOf(answer, "decision") === "abort" ? "abort" : "denied"

/**
 * The decision of an answer: `{ action: "accept", content: { decision } }`, a plain `accept` (`approved`), `decline` or
 * `cancel` (`denied`), or the original's `{ decision }`. A failure names the fault and does not contain values.
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
