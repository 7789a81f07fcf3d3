/** From the result of `elicitation/create` to the op that answers the question. Pure. */
import { readDecision, readElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import * as Result from "effect/Result"
import type { QuestionRef } from "../../questions/Question.ts"
import { type AnswerOp, decisionOp, formOp, takesDecision } from "../../questions/QuestionAnswer.ts"

/**
 * The op of what the client answered to that question. Fails with what of the answer cannot be read, which is then no
 * answer (L7).
 */
export const readAnswer = (ref: QuestionRef, answer: unknown): Result.Result<AnswerOp, string> =>
  takesDecision(ref)
    ? Result.map(readDecision(answer), (decision) => decisionOp(ref, decision))
    : Result.map(readElicitResult(answer), (result) => formOp(ref, result))
