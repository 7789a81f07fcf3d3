/**
 * The questions of tool servers as the third kind of question (L7): what they may measure, and how what a person does
 * with a form reads as a decision. Pure.
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

/** As it is put to a conversation, which names it. */
export interface UnnamedElicitation extends Elicitation {
  readonly _tag: "Elicitation"
}

interface ElicitationRequest extends UnnamedElicitation {
  /** Of the question: no call of the model is known to have led to it. */
  readonly callId: PatchApproval["callId"]
}

export const answersOf = (given: boolean | Answers | undefined): Answers | undefined =>
  given === true ? "all" : given === false ? undefined : given

/** @param isForm of a question that a tool server asks */
export const takes = (answers: Answers, isForm: boolean): boolean =>
  answers === "all" || (answers === "forms") === isForm

/** Everything a conversation is asked, as its book has it. */
export type QuestionRequest = ApprovalRequest | ElicitationRequest

/** What became of a question, for the one who asked: with what was filled in, which is kept nowhere. */
export interface Outcome extends Verdict {
  readonly content?: Readonly<Record<string, unknown>>
}

/** Cancelled: nobody chose. */
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

/** What the server is told. Whatever a person did not say is a refusal. */
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
