/**
 * The questions that ask for information and not for a permission, and the calls of the clients' tools, as further kinds of
 * questions (L7): forms of tool servers and the agent's questions, and the conversion between their answers and decisions.
 * Pure.
 */
import { UserInputAnswers } from "@colloquy/protocol/events/QuestionEvents"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import type {
  Answers,
  ApprovalRequest,
  ClientCall,
  ClientOutcome,
  ClientResult,
  Elicitation,
  ElicitationAnswer,
  PatchApproval,
  UserInputAnswer,
  UserInputRequest,
  Verdict,
} from "./Approval.ts"

/** The question as a tool asks it. The conversation adds an id. */
export interface UnnamedElicitation extends Elicitation {
  readonly _tag: "Elicitation"
}

interface ElicitationRequest extends UnnamedElicitation {
  /** Id of the question. It is not the id of a call of the model, since several calls may run. */
  readonly callId: PatchApproval["callId"]
}

/** A call of a client's tool as the turn puts it. */
export interface ClientCallRequest extends ClientCall {
  readonly _tag: "ClientCall"
}

/** What a question needs of a listener: a decision, a form to be filled in, or a tool to be run. */
export type QuestionKind = "approval" | "form" | "call"

/** The kinds of questions that a listener can answer; undefined for none. */
export const answersOf = (given: boolean | Answers | undefined): Answers | undefined =>
  given === true ? "all" : given === false ? undefined : given

const kindsOf: Readonly<Record<Answers, ReadonlyArray<QuestionKind>>> = {
  all: ["approval", "form"],
  approvals: ["approval"],
  forms: ["form"],
  calls: ["call"],
  everything: ["approval", "form", "call"],
}

/** True when a listener that answers these kinds answers a question of this one. */
export const takes = (answers: Answers, kind: QuestionKind): boolean =>
  kindsOf[answers].includes(kind)

/** The agent's questions, as one question of the conversation. */
export interface InputRequest extends UserInputRequest {
  readonly _tag: "UserInput"
}

/** A question of any kind, with its id. */
export type QuestionRequest =
  | ApprovalRequest
  | ElicitationRequest
  | InputRequest
  | ClientCallRequest

/** The kind of a question. */
export const kindOf = ({ _tag }: Pick<QuestionRequest, "_tag">): QuestionKind => {
  switch (_tag) {
    case "Elicitation":
    case "UserInput":
      return "form"
    case "ClientCall":
      return "call"
    default:
      return "approval"
  }
}

/** True for a question that a person decides: such a decision may be remembered, and found again after a restart. */
export const isApproval = (
  request: QuestionRequest | UnnamedElicitation,
): request is ApprovalRequest => kindOf(request) === "approval"

/** True for a question that its call finds again after a restart: one of a person that a call of the model asks. */
export const isFoundAgain = (
  request: QuestionRequest | UnnamedElicitation,
): request is ApprovalRequest | InputRequest => request._tag === "UserInput" || isApproval(request)

/** True for a question whose answer is filled in and allows nothing. */
export const isForm = (
  request: UnnamedElicitation | QuestionRequest,
): request is UnnamedElicitation | InputRequest => kindOf(request) === "form"

/** The verdict for the tool that asked, with what was filled in, which is recorded nowhere. */
export interface Outcome extends Verdict {
  readonly content?: Readonly<Record<string, unknown>>
  /** What a tool of a client has returned, which its `tool_call_end` records. */
  readonly result?: ClientResult
}

/** What became of the call of a client's tool. */
export const clientOutcomeOf = ({ reason, result }: Outcome): ClientOutcome =>
  result === undefined ? { _tag: "None", reason } : { _tag: "Result", ...result }

/** The decision for an answer to a form. `cancel` is `abort`: the person did not choose. */
export const decisionOf = (action: ElicitationAnswer["action"]): ReviewDecision => {
  switch (action) {
    case "accept":
      return "approved"
    case "decline":
      return "denied"
    case "cancel":
      return "abort"
  }
}

/** The answer for the tool server. Every outcome without an answer of a person is a decline. */
export const answerOf = ({ content, decision, reason }: Outcome): ElicitationAnswer => {
  if (reason !== "answered") return { action: "decline" }
  switch (decision) {
    case "approved":
      return content === undefined ? { action: "accept" } : { action: "accept", content }
    case "abort":
      return { action: "cancel" }
    default:
      return { action: "decline" }
  }
}

const isAnswers = Schema.is(UserInputAnswers)

/** The answer for the tool that asked the agent's questions. */
export const inputAnswerOf = ({ content, decision, reason }: Outcome): UserInputAnswer =>
  reason === "answered" && decision === "approved" && isAnswers(content)
    ? { _tag: "Answered", answers: content }
    : { _tag: "Unanswered", reason }
