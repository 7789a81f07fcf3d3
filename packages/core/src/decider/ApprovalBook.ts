/**
 * The questions of a conversation (L7): the pending ones and, in bounded memory, the resolved ones. Each is resolved once,
 * by the first answer, its deadline or its withdrawal. Pure; `ApprovalDecisions.ts` decides what follows for the
 * conversation.
 *
 *     open (parked) ── a listener that can answer is attached ──▶ open, its deadline runs ──▶ resolved
 *           └────────────────── answered, withdrawn, grace ended ───────────────────────────────▲
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Equal from "effect/Equal"
import type { Answers, Verdict } from "../approvals/Approval.ts"
import { kindOf, type Outcome, type QuestionRequest, takes } from "../approvals/Elicitation.ts"
import { remember } from "../approvals/SessionGrants.ts"

/** A pending question. */
export interface Question {
  /** Unique per conversation. Call ids are not: providers repeat them. */
  readonly number: number
  /** Number of the event that asks it. */
  readonly seq: number
  readonly turnId: SubmissionId
  readonly request: QuestionRequest
  /** True until a listener that can answer it was attached: its deadline does not run yet. */
  readonly parked: boolean
}

/** Number of a question that was restored from the log; negative, so that no tool of this process has the same. */
export const restoredNumber = (seq: number): number => -1 - seq

/** True for the number of a restored question: the tool that asked it does not run any more. */
export const isRestored = (number: number): boolean => number < 0

interface Resolved {
  readonly turnId: SubmissionId
  readonly callId: string
  readonly verdict: Verdict
}

interface Unclaimed {
  readonly request: QuestionRequest
  readonly outcome: Outcome
}

/** The questions of a conversation and its listeners that can answer them. */
export interface ApprovalBook {
  /** Pending questions, oldest first, all of the running turn. No two have the same call id. */
  readonly open: ReadonlyArray<Question>
  /** Verdicts on restored questions whose call has not asked again yet. Absent while there are none. */
  readonly unclaimed?: ReadonlyArray<Unclaimed>
  /** The last resolved questions, to distinguish a late answer from one to an unknown question. */
  readonly resolved: ReadonlyArray<Resolved>
  /** Grants of the session: a fold of `approval_resolved` events, so they last as long as the log. */
  readonly grants: ReadonlyArray<string>
  /** Number of listeners that can answer approvals. */
  readonly approvalListeners: number
  /** Number of listeners that can fill in forms: those of tool servers, and the agent's questions. */
  readonly formListeners: number
  /** Number of listeners that run the tools of the clients. */
  readonly callListeners: number
  /** True during the grace period after a restart: the client that loaded the conversation may still attach. */
  readonly inGrace?: true
}

/** No questions and no listeners. */
export const emptyBook: ApprovalBook = {
  open: [],
  resolved: [],
  grants: [],
  approvalListeners: 0,
  formListeners: 0,
  callListeners: 0,
}

/** Most pending questions; one more is denied. Tools ask one at a time or a few. */
export const maxOpen = 64
const maxResolved = 256

/** Why an answer was refused. */
export type Miss = "UnknownApproval" | "ClosedApproval" | "ForeignApproval"

/** True when a question of this call cannot be asked: there are too many, or an answer would be ambiguous. */
export const isFull = (book: ApprovalBook, callId: string): boolean =>
  book.open.length >= maxOpen || book.open.some(({ request }) => request.callId === callId)

/** Adds a pending question. */
export const open = (book: ApprovalBook, question: Question): ApprovalBook => ({
  ...book,
  open: [...book.open, question],
})

/** The op that answers a question of each kind. */
const opOf = {
  Exec: "exec_approval",
  Patch: "patch_approval",
  Tool: "tool_approval",
  Permissions: "permissions_approval",
  Elicitation: "elicitation_answer",
  ClientCall: "client_tool_result",
  UserInput: "user_input_answer",
} as const satisfies Readonly<Record<QuestionRequest["_tag"], string>>

/** What an answer names: a call or a turn and, optionally, one question of it. */
export interface Named {
  readonly id: string
  /** Number of the event that asked the question. */
  readonly question?: number
}

/**
 * The pending question that an answer names: by call id, or by the id of the turn if exactly one of it is pending (clients
 * of the original program answer by the id of the event, which is that of the turn). A call may ask again: an answer with
 * `question` applies to no other.
 */
export const find = (
  book: ApprovalBook,
  kind: QuestionRequest["_tag"],
  { id, question: asked }: Named,
): { readonly question: Question } | { readonly miss: Miss; readonly message: string } => {
  const open = asked === undefined ? book.open : book.open.filter(({ seq }) => seq === asked)
  const ofCall = open.filter(({ request }) => request.callId === id)
  const found = ofCall.length > 0 ? ofCall : open.filter(({ turnId }) => turnId === id)
  const [question] = found
  if (question === undefined) {
    const resolved = book.resolved.findLast(({ callId, turnId }) => callId === id || turnId === id)
    if (resolved === undefined) {
      return { miss: "UnknownApproval", message: `no question has the id \`${id}\`` }
    }
    const { callId, verdict } = resolved
    return {
      miss: "ClosedApproval",
      message: `the question of call \`${callId}\` was resolved already: ${verdict.decision} (${verdict.reason})`,
    }
  }
  if (found.length > 1) {
    return {
      miss: "UnknownApproval",
      message: `${found.length} questions of turn \`${id}\` are pending; expected the id of a call`,
    }
  }
  if (question.request._tag !== kind) {
    const { _tag, callId } = question.request
    return {
      miss: "ForeignApproval",
      message: `the question of call \`${callId}\` asks for ${opOf[_tag]}, not ${opOf[kind]}`,
    }
  }
  return { question }
}

/** Moves a pending question to the resolved ones. */
export const resolve = (book: ApprovalBook, question: Question, verdict: Verdict): ApprovalBook => {
  const { turnId, request } = question
  const entry = { turnId, callId: request.callId, verdict }
  return {
    ...book,
    open: book.open.filter(({ number }) => number !== question.number),
    resolved: [...book.resolved, entry].slice(-maxResolved),
  }
}

/** Gives a restored question the number of the tool that asks it again. */
export const assignTo = (book: ApprovalBook, question: Question, number: number): ApprovalBook => ({
  ...book,
  open: book.open.map((open) => (open === question ? { ...open, number } : open)),
})

/** Stores the verdict on a restored question until its call asks again. */
export const storeVerdict = (book: ApprovalBook, request: QuestionRequest, outcome: Outcome) => ({
  ...book,
  unclaimed: [...(book.unclaimed ?? []), { request, outcome }],
})

/** The stored verdict on this question, and the book without it. */
export const claimVerdict = (
  book: ApprovalBook,
  request: QuestionRequest,
): { readonly outcome: Outcome; readonly book: ApprovalBook } | undefined => {
  const { unclaimed = [], ...rest } = book
  const found = unclaimed.find((kept) => isSame(kept.request, request))
  if (found === undefined) return undefined
  const left = unclaimed.filter((kept) => kept !== found)
  return { outcome: found.outcome, book: left.length === 0 ? rest : { ...rest, unclaimed: left } }
}

/** True for the same question of the same call. */
export const isSame = (a: QuestionRequest, b: QuestionRequest): boolean => {
  if (a.callId !== b.callId) return false
  if (a._tag === "Exec" && b._tag === "Exec") {
    return a.cwd === b.cwd && Equal.equals(a.command, b.command)
  }
  if (a._tag === "Tool" && b._tag === "Tool") {
    return a.tool === b.tool && a.server === b.server && Equal.equals(a.arguments, b.arguments)
  }
  if (a._tag === "Permissions" && b._tag === "Permissions") {
    return a.cwd === b.cwd && Equal.equals(a.permissions, b.permissions)
  }
  if (a._tag === "UserInput" && b._tag === "UserInput") {
    return Equal.equals(a.questions, b.questions)
  }
  return (
    a._tag === "Patch" &&
    b._tag === "Patch" &&
    a.grantRoot === b.grantRoot &&
    Equal.equals(a.changes, b.changes)
  )
}

const listenersOf = {
  approval: "approvalListeners",
  form: "formListeners",
  call: "callListeners",
} as const

/** True while a listener is attached that can answer the question. */
export const isAttended = (book: ApprovalBook, request: QuestionRequest): boolean =>
  book[listenersOf[kindOf(request)]] > 0

/** A listener that can answer questions of these kinds was attached (1) or detached (-1). */
export interface Attendance {
  readonly by: 1 | -1
  readonly answers: Answers
}

/** True for a parked question that the attached listener can answer. */
export const isUnparkedBy = ({ parked, request }: Question, { answers, by }: Attendance): boolean =>
  parked && by === 1 && takes(answers, kindOf(request))

/** Counts an attached or detached listener. Pending questions stay pending; parked ones that it can answer are unparked. */
export const countListener = (book: ApprovalBook, attendance: Attendance): ApprovalBook => {
  const { answers, by } = attendance
  const approvalListeners = book.approvalListeners + (takes(answers, "approval") ? by : 0)
  const formListeners = book.formListeners + (takes(answers, "form") ? by : 0)
  const callListeners = book.callListeners + (takes(answers, "call") ? by : 0)
  if (by === -1) return { ...book, approvalListeners, formListeners, callListeners }
  return {
    // The grace continues for the kind of question that still has no listener.
    ...(approvalListeners > 0 && formListeners > 0 ? endGrace(book) : book),
    approvalListeners,
    formListeners,
    callListeners,
    open: book.open.map((question) =>
      isUnparkedBy(question, attendance) ? { ...question, parked: false } : question,
    ),
  }
}

/** Ends the grace period: from now on only attached listeners count. */
export const endGrace = ({ inGrace: _, ...book }: ApprovalBook): ApprovalBook => book

/** Adds a grant of the session. */
export const addGrant = (book: ApprovalBook, text: string): ApprovalBook => ({
  ...book,
  grants: remember(book.grants, text),
})
