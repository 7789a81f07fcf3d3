/**
 * From a client's answer to the op that tells the conversation. Pure but for the telling. Keeps its part of L7: what
 * cannot be read is no answer, and the answer to one question never counts for another.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { readDecision, readElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import type { Op } from "@colloquy/protocol/Op"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Question, questionId } from "./ElicitationParams.ts"

/** What names a question of a conversation, and what kind it is. */
export interface QuestionRef {
  readonly seq: number
  readonly id: string
  readonly type: Question["msg"]["type"]
}

export const refOf = (question: Question): QuestionRef => ({
  seq: question.seq,
  id: questionId(question),
  type: question.msg.type,
})

export type AnswerOp = Extract<
  Op,
  { readonly type: "exec_approval" | "patch_approval" | "elicitation_answer" }
>

/** The op that says what the client answered; fails with what cannot be read. */
export const readAnswer = (
  { id, seq, type }: QuestionRef,
  answer: unknown,
): Result.Result<AnswerOp, string> => {
  const named = { id, question: seq }
  return type === "elicitation_request"
    ? Result.map(readElicitResult(answer), (result) => ({
        type: "elicitation_answer",
        ...named,
        ...result,
      }))
    : Result.map(readDecision(answer), (decision) => ({
        type: type === "exec_approval_request" ? "exec_approval" : "patch_approval",
        ...named,
        decision,
      }))
}

export const denial = ({ id, seq, type }: QuestionRef): AnswerOp => {
  const named = { id, question: seq }
  switch (type) {
    case "exec_approval_request":
      return { type: "exec_approval", ...named, decision: "denied" }
    case "apply_patch_approval_request":
      return { type: "patch_approval", ...named, decision: "denied" }
    case "elicitation_request":
      return { type: "elicitation_answer", ...named, action: "decline" }
  }
}

/** The first answer to a question wins; this one may come too late. */
export const submitAnswer = (
  conversation: Pick<Conversation, "submit">,
  op: AnswerOp,
  because?: "malformed" | "failed",
): Effect.Effect<void> =>
  conversation.submit(op, because === undefined ? {} : { because }).pipe(
    Effect.asVoid,
    Effect.catch(({ message }) => Effect.logDebug(`an answer was not taken: ${message}`)),
  )
