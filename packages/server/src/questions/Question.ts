/** The events that ask a person, or a tool of a client, something, and how a question is identified. Pure; knows no dialect. */
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"

/**
 * The event that asks: about a command, a patch, a tool of the application, with the form of a tool server, what the agent wants
 * to know, or what it wants to be permitted.
 */
export type Question = Event & {
  readonly msg:
    | EventOf<"exec_approval_request">
    | EventOf<"apply_patch_approval_request">
    | EventOf<"tool_approval_request">
    | EventOf<"elicitation_request">
    | EventOf<"request_user_input">
    | EventOf<"request_permissions">
}

/** The event that has a client run one of its tools. */
export type ClientCall = Event & { readonly msg: EventOf<"client_tool_call"> }

/** Whether the event has a client run one of its tools. */
export const isClientCall = (event: Event): event is ClientCall =>
  event.msg.type === "client_tool_call"

/** Whether the event asks a person something. */
export const isQuestion = (event: Event): event is Question =>
  event.msg.type === "exec_approval_request" ||
  event.msg.type === "apply_patch_approval_request" ||
  event.msg.type === "tool_approval_request" ||
  event.msg.type === "elicitation_request" ||
  event.msg.type === "request_user_input" ||
  event.msg.type === "request_permissions"

/** The id that `approval_resolved` names: the model's call id, or the id of the form. */
export const questionId = ({ msg }: Question | ClientCall): string =>
  msg.type === "elicitation_request" ? msg.id : msg.call_id

/** Identifies one question of a conversation, and says which kind of answer it takes. A plain value: it may be sealed. */
export interface QuestionRef {
  /** Number of the event that asks. */
  readonly seq: number
  /** See `questionId`. */
  readonly id: string
  /** Type of the event that asks. */
  readonly type: Question["msg"]["type"]
}

/** The reference of that question. */
export const refOf = (question: Question): QuestionRef => ({
  seq: question.seq,
  id: questionId(question),
  type: question.msg.type,
})
