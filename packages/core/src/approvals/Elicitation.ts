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
import { canBeShown } from "../question/FormText.ts"

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

/** Of each part of a form and of an answer, as JSON, in UTF-16 code units. */
const maxChars = 64 * 1024

/** Of arrays and objects in each other, in levels. Forms of the specification have at most 6. */
const maxLevels = 8

const isShallow = (value: unknown, levels = maxLevels): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1)))

/** False also for what is no JSON. */
const fits = (value: unknown): boolean => {
  try {
    return JSON.stringify(value).length <= maxChars
  } catch {
    return false
  }
}

const isTooLong = (what: string) => `${what} is longer than ${maxChars} characters of JSON`

/**
 * Why a form is declined without a question, with the limit that it exceeds; undefined for one that can be shown.
 * Nothing is removed from a form to make it fit: a person must not accept members that were not displayed.
 */
export const formFault = (form: Elicitation): string | undefined => {
  if (!fits(form.server)) return isTooLong("the name of its server")
  if (!fits(form.message)) return isTooLong("its message")
  if (!isShallow(form.requestedSchema)) return `its schema has more than ${maxLevels} levels`
  if (!fits(form.requestedSchema)) return isTooLong("its schema")
  return canBeShown(form.requestedSchema) ? undefined : "the name of a member is not visible"
}

/** False for a form that is declined without a question. */
export const canBePut = (request: QuestionRequest): boolean =>
  request._tag !== "Elicitation" || formFault(request) === undefined

/** False for what counts as an answer that cannot be read. */
export const canBeRead = (content: Outcome["content"]): boolean =>
  content === undefined || fits(content)

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
