/** The answers to questions: decisions of a person, forms, the agent's questions, and results of the clients' tools. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import { decisionOf } from "../approvals/Elicitation.ts"
import { answerQuestion, resumeParkedTurn } from "./ApprovalDecisions.ts"
import { type Decision, followedBy, type InputOf } from "./Decision.ts"
import type { State } from "./State.ts"
import { stopTurn } from "./TurnEnd.ts"

type Because = InputOf<"Submit">["because"]

/** Answers the form of a tool server. */
const answerForm = (
  state: State,
  id: SubmissionId,
  { action, content, ...named }: Extract<Op, { readonly type: "elicitation_answer" }>,
  because: Because,
): Decision => {
  const reply = {
    ...named,
    decision: decisionOf(action),
    ...defined({ content: action === "accept" ? content : undefined }),
  }
  return answerQuestion(state, id, "Elicitation", reply, because)
}

/** Answers the call of a client's tool, which has ended whatever the tool says. */
const answerCall = (
  state: State,
  id: SubmissionId,
  { content, success, type: _, ...named }: Extract<Op, { readonly type: "client_tool_result" }>,
  because: Because,
): Decision => {
  const reply = { ...named, decision: "approved" as const, result: { content, success } }
  return answerQuestion(state, id, "ClientCall", reply, because)
}

/** Answers the agent's questions; a turn that waited for it since a restart is resumed. */
const answerInput = (
  state: State,
  id: SubmissionId,
  { response, type: _, ...named }: Extract<Op, { readonly type: "user_input_answer" }>,
  because: Because,
): Decision => {
  const reply =
    response === null
      ? { ...named, decision: "denied" as const }
      : { ...named, decision: "approved" as const, content: response.answers }
  const answered = answerQuestion(state, id, "UserInput", reply, because)
  return answered.refused === undefined ? followedBy(answered, resumeParkedTurn) : answered
}

/** The kind of question that an op answers. */
const questionKinds = {
  exec_approval: "Exec",
  patch_approval: "Patch",
  tool_approval: "Tool",
  permissions_approval: "Permissions",
} as const

/** Answers an approval. `abort` also interrupts the turn; unlike `interrupt` it leaves queued submissions alone. */
const answerApproval = (
  state: State,
  id: SubmissionId,
  op: Extract<Op, { readonly type: keyof typeof questionKinds }>,
  because: Because,
): Decision => {
  const answered = answerQuestion(state, id, questionKinds[op.type], op, because)
  if (answered.refused !== undefined) return answered
  return because === undefined && op.decision === "abort"
    ? followedBy(answered, (current) => stopTurn(current, "interrupted"))
    : followedBy(answered, resumeParkedTurn)
}

/** The ops that answer a question. */
type AnswerOp = Extract<
  Op,
  {
    readonly type:
      | keyof typeof questionKinds
      | "elicitation_answer"
      | "client_tool_result"
      | "user_input_answer"
  }
>

/** Decides an answer to a question; `id` is that of its submission. */
export const answer = (
  state: State,
  id: SubmissionId,
  op: AnswerOp,
  because: Because,
): Decision => {
  switch (op.type) {
    case "elicitation_answer":
      return answerForm(state, id, op, because)
    case "client_tool_result":
      return answerCall(state, id, op, because)
    case "user_input_answer":
      return answerInput(state, id, op, because)
    default:
      return answerApproval(state, id, op, because)
  }
}
