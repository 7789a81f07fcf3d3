/**
 * The questions of a conversation (L7): those open and, in bounded memory, those resolved. Each is answered once: the
 * first answer, its deadline or its withdrawal moves it from one list to the other. Pure; `ApprovalDecisions.ts` says
 * what follows for the conversation.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Equal from "effect/Equal"
import type { Answers, Verdict } from "../approvals/Approval.ts"
import { type Outcome, type QuestionRequest, takes } from "../approvals/Elicitation.ts"
import { remember } from "../approvals/SessionGrants.ts"

export interface Question {
  /** Unique per conversation; call ids are not, providers repeat them. */
  readonly number: number
  /** Of the event that puts it. */
  readonly seq: number
  readonly turnId: SubmissionId
  readonly request: QuestionRequest
  /** True while no listener that can answer has been there: no deadline runs. */
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

export interface ApprovalBook {
  /** Oldest first; all of the running turn. No two have the same call id. */
  readonly open: ReadonlyArray<Question>
  /** Verdicts on questions of an earlier life whose call has not asked again yet; absent most of the time. */
  readonly unclaimed?: ReadonlyArray<Unclaimed>
  /** The last of them, to tell a late answer from one to nothing. */
  readonly resolved: ReadonlyArray<Resolved>
  /** What the session approved; the fold of `approval_resolved` events, so it lasts as long as the log. */
  readonly grants: ReadonlyArray<string>
  /** Listeners that declared they can answer the questions of our own tools. */
  readonly approvalListeners: number
  /** Listeners that declared they can fill in the forms of tool servers. */
  readonly formListeners: number
  /** True for a moment after a restart: whoever loads the conversation has not had the time to listen yet. */
  readonly inGrace?: true
}

export const emptyBook: ApprovalBook = {
  open: [],
  resolved: [],
  grants: [],
  approvalListeners: 0,
  formListeners: 0,
}

/** Tools ask one at a time, or a few; one more is denied. */
export const maxOpen = 64
const maxResolved = 256

/** Why no question can be answered. */
export type Miss = "UnknownApproval" | "ClosedApproval" | "ForeignApproval"

/** True when the question cannot be opened: an answer to it could not be told from one to another. */
export const isFull = (book: ApprovalBook, callId: string): boolean =>
  book.open.length >= maxOpen || book.open.some(({ request }) => request.callId === callId)

export const open = (book: ApprovalBook, question: Question): ApprovalBook => ({
  ...book,
  open: [...book.open, question],
})

/** The op that answers a question of each kind. */
const opOf = {
  Exec: "exec_approval",
  Patch: "patch_approval",
  Elicitation: "elicitation_answer",
} as const satisfies Readonly<Record<QuestionRequest["_tag"], string>>

/** What an answer names: a call or a turn and, where it says so, the one question of it that was answered. */
export interface Named {
  readonly id: string
  /** Number of the event that put the question. */
  readonly question?: number
}

/**
 * The open question that an answer means: by call id, or by the turn's id when exactly one of it is open (the
 * original keys answers by event id, §4.1). A call may ask again: an answer that names its question is to no other.
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
      message: `${found.length} questions of turn \`${id}\` are open; expected the id of a call`,
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

/** Closes an open question. */
export const resolve = (book: ApprovalBook, question: Question, verdict: Verdict): ApprovalBook => {
  const { turnId, request } = question
  const entry = { turnId, callId: request.callId, verdict }
  return {
    ...book,
    open: book.open.filter(({ number }) => number !== question.number),
    resolved: [...book.resolved, entry].slice(-maxResolved),
  }
}

/** Its asker asks again: from now on it is the question of the new one. */
export const assignTo = (book: ApprovalBook, question: Question, number: number): ApprovalBook => ({
  ...book,
  open: book.open.map((open) => (open === question ? { ...open, number } : open)),
})

/** Keeps the verdict for a call that has not asked again yet. */
export const storeVerdict = (book: ApprovalBook, request: QuestionRequest, outcome: Outcome) => ({
  ...book,
  unclaimed: [...(book.unclaimed ?? []), { request, outcome }],
})

/** The verdict that was kept for this very question, and the book without it. */
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
  return (
    a._tag === "Patch" &&
    b._tag === "Patch" &&
    a.grantRoot === b.grantRoot &&
    Equal.equals(a.changes, b.changes)
  )
}

const isForm = ({ _tag }: QuestionRequest): boolean => _tag === "Elicitation"

/** True while somebody is there to be asked. */
export const isAttended = (book: ApprovalBook, request: QuestionRequest): boolean =>
  (isForm(request) ? book.formListeners : book.approvalListeners) > 0

/** A listener that can answer questions of these kinds was attached (1) or detached (-1). */
export interface Attendance {
  readonly by: 1 | -1
  readonly answers: Answers
}

/** True for a question that waits for whoever has come. */
export const isUnparkedBy = ({ parked, request }: Question, { answers, by }: Attendance): boolean =>
  parked && by === 1 && takes(answers, isForm(request))

/** A listener that can answer came or went. What is open stays open; what was parked is put to the one that came. */
export const countListener = (book: ApprovalBook, attendance: Attendance): ApprovalBook => {
  const { answers, by } = attendance
  const approvalListeners = book.approvalListeners + (takes(answers, false) ? by : 0)
  const formListeners = book.formListeners + (takes(answers, true) ? by : 0)
  if (by === -1) return { ...book, approvalListeners, formListeners }
  return {
    // The grace continues for the kind of question that still has no listener.
    ...(approvalListeners > 0 && formListeners > 0 ? endGrace(book) : book),
    approvalListeners,
    formListeners,
    open: book.open.map((question) =>
      isUnparkedBy(question, attendance) ? { ...question, parked: false } : question,
    ),
  }
}

/** From now on nobody is there unless a listener is. */
export const endGrace = ({ inGrace: _, ...book }: ApprovalBook): ApprovalBook => book

export const addGrant = (book: ApprovalBook, text: string): ApprovalBook => ({
  ...book,
  grants: remember(book.grants, text),
})
