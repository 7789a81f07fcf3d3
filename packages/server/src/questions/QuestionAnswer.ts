/**
 * The ops that answer a question. Each carries the number and the id of the question that it was made for, so that the
 * answer to one question never counts for another (L7).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { answersOfForm } from "@colloquy/core/question/UserInputForm"
import type { ElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import type { Op } from "@colloquy/protocol/Op"
import type { FurtherPermissions, ReviewDecision } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import {
  type ClientCall,
  isClientCall,
  type Question,
  type QuestionRef,
  refOf,
} from "./Question.ts"

/** An op that resolves one question. */
export type AnswerOp = Extract<
  Op,
  {
    readonly type:
      | "exec_approval"
      | "patch_approval"
      | "tool_approval"
      | "permissions_approval"
      | "elicitation_answer"
      | "client_tool_result"
      | "user_input_answer"
  }
>

type ApprovalRef = QuestionRef & {
  readonly type: Exclude<QuestionRef["type"], "elicitation_request" | "request_user_input">
}

/** Whether the question is answered with a decision. A form is answered with an action instead. */
export const takesDecision = (ref: QuestionRef): ref is ApprovalRef =>
  ref.type !== "elicitation_request" && ref.type !== "request_user_input"

const ops = {
  exec_approval_request: "exec_approval",
  apply_patch_approval_request: "patch_approval",
  tool_approval_request: "tool_approval",
  request_permissions: "permissions_approval",
} as const satisfies Readonly<Record<ApprovalRef["type"], AnswerOp["type"]>>

/** The decision about that command, patch, call or request for permissions. */
export const decisionOp = ({ id, seq, type }: ApprovalRef, decision: ReviewDecision): AnswerOp => ({
  type: ops[type],
  id,
  question: seq,
  decision,
})

/** The decision about further permissions; of those that were asked for, only these are granted. */
export const permissionsOp = (
  { id, seq }: Pick<QuestionRef, "id" | "seq">,
  decision: ReviewDecision,
  permissions: FurtherPermissions,
): AnswerOp => ({ type: "permissions_approval", id, question: seq, decision, permissions })

/** The answers to the agent's questions; null: the person declined. */
export const inputOp = (
  { id, seq }: Pick<QuestionRef, "id" | "seq">,
  response: Extract<AnswerOp, { readonly type: "user_input_answer" }>["response"],
): AnswerOp => ({ type: "user_input_answer", id, question: seq, response })

/** The answer to that form: of a tool server, or made of the agent's questions. */
export const formOp = (ref: QuestionRef, result: ElicitResult): AnswerOp => {
  if (ref.type !== "request_user_input") {
    return { type: "elicitation_answer", id: ref.id, question: ref.seq, ...result }
  }
  const { action, content = {} } = result
  return inputOp(ref, action === "accept" ? { answers: answersOfForm(content) } : null)
}

/** What the tool of a client has returned for that call. */
export const resultOp = (
  { msg, seq }: ClientCall,
  result: Pick<Extract<AnswerOp, { readonly type: "client_tool_result" }>, "success" | "content">,
): AnswerOp => ({ type: "client_tool_result", id: msg.call_id, question: seq, ...result })

/** The answer that allows nothing. */
export const denialOp = (ref: QuestionRef): AnswerOp =>
  takesDecision(ref) ? decisionOp(ref, "denied") : formOp(ref, { action: "decline" })

/** The answer to what no client has answered: it allows nothing, and a call has failed. */
export const refusalOp = (event: Question | ClientCall): AnswerOp =>
  isClientCall(event) ? resultOp(event, { success: false, content: [] }) : denialOp(refOf(event))

/** Why the server denies for the client: its answer could not be read, or there was none. Recorded with the resolution. */
export type DenialReason = "malformed" | "failed"

/**
 * Submits the answer. Never fails: the first answer to a question counts, and the conversation ignores a later one and
 * one to another question, which is logged.
 */
export const submitAnswer = (
  conversation: Pick<Conversation, "submit">,
  op: AnswerOp,
  because?: DenialReason,
): Effect.Effect<void> =>
  conversation.submit(op, because === undefined ? {} : { because }).pipe(
    Effect.asVoid,
    Effect.catch(({ message }) =>
      Effect.logDebug(`answer to question ${op.id} ignored: ${message}`),
    ),
  )
