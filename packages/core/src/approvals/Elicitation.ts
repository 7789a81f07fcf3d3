/**
 * The questions that ask for information and not for a permission (L7): forms of tool servers and the agent's questions, and
 * the conversion between answers to them and decisions. Pure.
 */
import { UserInputAnswers } from "@colloquy/protocol/events/QuestionEvents"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import type {
  Answers,
  ApprovalRequest,
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

/** The kinds of questions that a listener can answer; undefined for none. */
export const answersOf = (given: boolean | Answers | undefined): Answers | undefined =>
  given === true ? "all" : given === false ? undefined : given

/**
 * True when a listener that answers these kinds answers the question.
 *
 * @param asksForm true for a question that `isForm`
 */
export const takes = (answers: Answers, asksForm: boolean): boolean =>
  answers === "all" || (answers === "forms") === asksForm

/** The agent's questions, as one question of the conversation. */
export interface InputRequest extends UserInputRequest {
  readonly _tag: "UserInput"
}

/** A question of any kind, with its id. */
export type QuestionRequest = ApprovalRequest | ElicitationRequest | InputRequest

/** True for a question whose answer is filled in and allows nothing. */
export const isForm = (
  request: UnnamedElicitation | QuestionRequest,
): request is UnnamedElicitation | InputRequest =>
  request._tag === "Elicitation" || request._tag === "UserInput"

/** The verdict for the tool that asked, with what was filled in, which is recorded nowhere. */
export interface Outcome extends Verdict {
  readonly content?: Readonly<Record<string, unknown>>
}

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
