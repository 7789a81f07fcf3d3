/**
 * The questions of tool servers as the third kind of question (L7), and the conversion between answers to a form and
 * decisions. Pure.
 */
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import type {
  Answers,
  ApprovalRequest,
  Elicitation,
  ElicitationAnswer,
  PatchApproval,
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
 * @param isForm true for the question of a tool server
 */
export const takes = (answers: Answers, isForm: boolean): boolean =>
  answers === "all" || (answers === "forms") === isForm

/** A question of any kind, with its id. */
export type QuestionRequest = ApprovalRequest | ElicitationRequest

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
