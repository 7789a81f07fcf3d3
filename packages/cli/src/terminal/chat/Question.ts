/** A question to the person, the keys that answer it, and the ops of the answers. Pure. */
import { questionText, shownReason } from "@colloquy/core/question/QuestionText"
import { userInputForm } from "@colloquy/core/question/UserInputForm"
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { Op } from "@colloquy/protocol/Op"
import type { ReviewDecision } from "@colloquy/protocol/Policy"

/** What an answer says, and the words that report it. */
export interface Answer {
  readonly decision: ReviewDecision
  readonly text: string
  /** Of a question with choices: the one that was made. */
  readonly choice?: string
}

/** A question that waits for a key. */
export interface Question {
  /** Id of the call, by which the question is withdrawn. */
  readonly id: string
  readonly text: string
  /** The changes that are asked about, by path. */
  readonly changes?: Readonly<Record<string, FileChange>>
  /** By key. */
  readonly answers: Readonly<Record<string, Answer>>
  /** The keys in words. */
  readonly hint: string
  readonly opOf: (answer: Answer) => Op
  /** When it was shown, in milliseconds of the clock. */
  readonly shownAtMs: number
}

const yes: Answer = { decision: "approved", text: "approved" }
const always: Answer = { decision: "approved_for_session", text: "approved for this session" }
const no: Answer = { decision: "denied", text: "denied" }
const stop: Answer = { decision: "abort", text: "denied, and the turn is interrupted" }

const approvals = {
  answers: { y: yes, a: always, n: no, escape: stop },
  hint: "[y] yes  [a] yes, for this session  [n] no  [Esc] no, and stop",
}

/** A form with members that have to be filled in cannot be accepted by a key. */
const formAnswers = (schema: Readonly<Record<string, unknown>>) => {
  const { required } = schema
  const isEmpty = !Array.isArray(required) || required.length === 0
  const cancel: Answer = { decision: "abort", text: "cancelled" }
  const declined: Answer = { decision: "denied", text: "declined" }
  return isEmpty
    ? {
        answers: { y: { ...yes, text: "accepted" }, n: declined, escape: cancel },
        hint: "[y] accept  [n] decline  [Esc] cancel",
      }
    : {
        answers: { n: declined, escape: cancel },
        hint: "a form that has to be filled in, which the terminal cannot show  [n] decline  [Esc] cancel",
      }
}

const declining = {
  n: { decision: "denied", text: "declined" },
  escape: { decision: "denied", text: "declined" },
} as const satisfies Readonly<Record<string, Answer>>

/** The keys of choices. */
const digits = "123456789"

/** What the agent asks: the choices of a single question have keys, and the terminal cannot show more than that. */
const inputQuestion = (
  { call_id: id, questions }: EventOf<"request_user_input">,
  seq: number,
): Omit<Question, "shownAtMs"> => {
  const [first] = questions
  const choices = questions.length === 1 ? (first?.options ?? []).slice(0, digits.length) : []
  const rows = choices.map(
    ({ description, label }, at) => `${digits[at]}. ${label}: ${description}`,
  )
  const keys = Object.fromEntries(
    choices.map(({ label: choice }, at) => [
      digits[at],
      { decision: "approved", text: choice, choice } as const satisfies Answer,
    ]),
  )
  return {
    id,
    text: shownReason([userInputForm(questions).message, ...rows].join("\n")),
    answers: { ...keys, ...declining },
    hint:
      choices.length === 0
        ? "an answer that has to be written, which the terminal cannot ask for  [n] decline"
        : `[1]${choices.length === 1 ? "" : `–[${choices.length}]`} choose  [n] decline`,
    opOf: ({ choice }) => ({
      type: "user_input_answer",
      id,
      question: seq,
      response:
        choice === undefined || first === undefined
          ? null
          : { answers: { [first.id]: { answers: [choice] } } },
    }),
  }
}

const actions = {
  approved: "accept",
  approved_for_session: "accept",
  denied: "decline",
  abort: "cancel",
} as const

const formQuestion = (
  { id, message, requested_schema }: EventOf<"elicitation_request">,
  seq: number,
): Omit<Question, "shownAtMs"> => ({
  ...formAnswers(requested_schema),
  id,
  text: shownReason(message),
  opOf: ({ decision }) => ({
    type: "elicitation_answer",
    id,
    action: actions[decision],
    ...(actions[decision] === "accept" ? { content: {} } : {}),
    question: seq,
  }),
})

/** The question of an event; undefined for an event without one. */
export const questionOf = ({ msg, seq }: Event, shownAtMs: number): Question | undefined => {
  switch (msg.type) {
    case "exec_approval_request":
    case "apply_patch_approval_request":
    case "tool_approval_request":
    case "request_permissions": {
      const type = (
        {
          exec_approval_request: "exec_approval",
          apply_patch_approval_request: "patch_approval",
          tool_approval_request: "tool_approval",
          request_permissions: "permissions_approval",
        } as const
      )[msg.type]
      return {
        ...approvals,
        id: msg.call_id,
        text: questionText(msg, "Colloquy"),
        ...(msg.type === "apply_patch_approval_request" ? { changes: msg.changes } : {}),
        opOf: ({ decision }) => ({ type, id: msg.call_id, decision, question: seq }),
        shownAtMs,
      }
    }
    case "request_user_input":
      return { ...inputQuestion(msg, seq), shownAtMs }
    case "elicitation_request":
      return { ...formQuestion(msg, seq), shownAtMs }
    default:
      return undefined
  }
}

const words: Readonly<Record<string, string>> = {
  yes: "y",
  always: "a",
  no: "n",
  cancel: "escape",
  stop: "escape",
}

/**
 * The answer that a typed or piped line gives: a key of the question, or its word. Any other line denies: a message that was
 * meant for the model must not approve because of its first letter.
 */
export const spokenAnswer = (
  { answers }: Question,
  line: string,
): { readonly answer: Answer; readonly isKnown: boolean } => {
  const word = line.trim().toLowerCase()
  const key = Object.hasOwn(words, word) ? (words[word] ?? "") : word
  const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
  return { answer: answer ?? no, isKnown: answer !== undefined }
}

/** A key that comes sooner was meant for the line that the person was typing. */
export const settleMs = 400
