/**
 * What a conversation decides about its questions. Keeps L7: asked only where a listener can answer, answered once,
 * closed by answer, deadline, withdrawal or shutdown, denied on everything else. Pure.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Duration from "effect/Duration"
import type { Unattended, Verdict } from "../approvals/Approval.ts"
import * as Book from "./ApprovalBook.ts"
import { requestEvent, resolvedEvent } from "../question/ApprovalEvents.ts"
import type { Outcome, QuestionRequest } from "../approvals/Elicitation.ts"
import { canBePut, canBeRead } from "../question/FormLimits.ts"
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { State } from "./State.ts"
import { type Decision, followedBy, type InputOf, nothing } from "./Decision.ts"
import { grantFor, grantOf } from "../approvals/SessionGrants.ts"

/** Long enough to come back from a meeting's edge, short enough that no call hangs for days (R5). */
const defaultDeadline = Duration.minutes(10)

const deadlineOf = (state: State) => state.settings.approvalDeadline ?? defaultDeadline

const denied = (reason: Verdict["reason"]): Verdict => ({ decision: "denied", reason })

/** The asker is told. */
const settle = (number: number, verdict: Outcome) =>
  ({ _tag: "ResolveQuestion", number, verdict }) as const

/** The question is closed, the listeners and the asker are told; the asker alone of what was filled in. */
const resolve = (
  state: State,
  question: Book.Question,
  verdict: Verdict,
  content?: Outcome["content"],
): Decision => {
  const { number, request, turnId } = question
  const grant =
    verdict.decision === "approved_for_session" && request._tag !== "Elicitation"
      ? grantOf(request)
      : undefined
  const outcome = content === undefined ? verdict : { ...verdict, content }
  const approvals = Book.resolve(state.approvals, question, verdict)
  return {
    state: {
      ...state,
      approvals:
        Book.isRestored(number) && verdict.reason !== "withdrawn" && verdict.reason !== "shutdown"
          ? Book.storeVerdict(approvals, request, outcome)
          : approvals,
    },
    events: [{ id: turnId, msg: resolvedEvent(request.callId, verdict, grant) }],
    actions: [settle(number, outcome)],
  }
}

/** What the setting says to a question that nobody can be asked; undefined: it waits. */
const unattendedVerdict = (setting: Unattended, request: QuestionRequest): Verdict | undefined => {
  if (setting === "park") return undefined
  if (setting === "deny" || request._tag === "Elicitation") return denied("unattended")
  try {
    // Not trusted to be a boolean: a promise would allow everything.
    const allowed: unknown = setting.allow(request)
    return allowed === true ? { decision: "approved", reason: "unattended" } : denied("unattended")
  } catch {
    return denied("failed")
  }
}

/** Where somebody is there who answers other questions alone, a form waits for nobody. */
const whenUnattended = ({ approvals, settings }: State): Unattended =>
  approvals.approvalListeners > 0 ? "deny" : (settings.unattended ?? "deny")

/** A call id of the model is no place for it: several calls may run. The number of the event is unique in the log. */
const named = (request: InputOf<"Ask">["request"], seq: number): QuestionRequest =>
  request._tag === "Elicitation" ? { ...request, callId: `elicitation-${seq}` } : request

/**
 * A tool asks. A question that its call put before a restart is not put again: it is this one's from now on, or its verdict
 * is. Another one of that call is nobody's any more.
 */
export const askQuestion = (state: State, input: InputOf<"Ask">): Decision => {
  const { number, request, turnId } = input
  if (state.turn?.id !== turnId || request._tag === "Elicitation") return askAnew(state, input)
  const claimed = Book.claimVerdict(state.approvals, request)
  if (claimed !== undefined) {
    return {
      ...nothing({ ...state, approvals: claimed.book }),
      actions: [settle(number, claimed.outcome)],
    }
  }
  const earlier = state.approvals.open.find(
    (open) => Book.isRestored(open.number) && open.request.callId === request.callId,
  )
  if (earlier === undefined) return askAnew(state, input)
  if (!Book.isSame(earlier.request, request)) {
    return followedBy(resolve(state, earlier, denied("withdrawn")), (current) =>
      askAnew(current, input),
    )
  }
  return {
    ...nothing({ ...state, approvals: Book.assignTo(state.approvals, earlier, number) }),
    actions: [{ _tag: "MoveDeadline", from: earlier.number, to: number }],
  }
}

/** Without a person to ask it is answered at once, and no request is told of. */
const askAnew = (state: State, input: InputOf<"Ask">): Decision => {
  const { number, turnId } = input
  const { approvals, turn } = state
  const request = named(input.request, state.seq)
  if (turn?.id !== turnId || turn.aborting !== undefined) {
    const verdict = denied(state.closing ? "shutdown" : "withdrawn")
    return { ...nothing(state), actions: [settle(number, verdict)] }
  }
  const atOnce = (verdict: Verdict, grant?: string): Decision => ({
    ...nothing(state),
    events: [{ id: turnId, msg: resolvedEvent(request.callId, verdict, grant) }],
    actions: [settle(number, verdict)],
  })
  const question = { number, seq: state.seq, turnId, request }
  const grant = request._tag === "Elicitation" ? undefined : grantFor(approvals.grants, request)
  if (grant !== undefined) return atOnce({ decision: "approved", reason: "granted" }, grant)
  if (Book.isFull(approvals, request.callId) || !canBePut(request)) return atOnce(denied("failed"))
  const parked = !Book.isAttended(approvals, request)
  const verdict =
    parked && approvals.inGrace !== true
      ? unattendedVerdict(whenUnattended(state), request)
      : undefined
  if (verdict !== undefined) return atOnce(verdict)
  return {
    state: { ...state, approvals: Book.open(approvals, { ...question, parked }) },
    events: [{ id: turnId, msg: requestEvent(request, state.settings) }],
    actions: parked ? [] : [{ _tag: "StartDeadline", number, after: deadlineOf(state) }],
  }
}

/**
 * Somebody answers; the first one wins. With `because` the answer is none: it could not be read or never came, and
 * counts as a denial; so does one with more in it than is taken. `abort` only closes the question here; that it stops the turn is decided by the caller.
 */
export const answerQuestion = (
  state: State,
  submissionId: SubmissionId,
  kind: QuestionRequest["_tag"],
  reply: Book.Named & { readonly decision: ReviewDecision; readonly content?: Outcome["content"] },
  because?: "malformed" | "failed",
): Decision => {
  const found = Book.find(state.approvals, kind, reply)
  if ("miss" in found) {
    const { miss, message } = found
    return { ...nothing(state), refused: new SubmissionRefused({ reason: miss, message }) }
  }
  const unread = because ?? (canBeRead(reply.content) ? undefined : "malformed")
  const resolved =
    unread === undefined
      ? resolve(
          state,
          found.question,
          { decision: reply.decision, reason: "answered" },
          reply.content,
        )
      : resolve(state, found.question, denied(unread))
  return {
    ...resolved,
    receipt: { id: submissionId, disposition: "none" },
  }
}

/** The deadline is over, or nobody asks any more; a question that is closed already is left alone. */
export const closeUnanswered = (
  state: State,
  number: number,
  reason: "expired" | "withdrawn",
): Decision => {
  const question = state.approvals.open.find((open) => open.number === number)
  return question === undefined ? nothing(state) : resolve(state, question, denied(reason))
}

/** Whoever was expected did not come: what waits for somebody is decided as if it were asked now. */
export const graceEnded = (state: State): Decision => {
  const { approvals } = state
  if (approvals.inGrace !== true) return nothing(state)
  const before = nothing({ ...state, approvals: Book.endGrace(approvals) })
  return approvals.open.reduce<Decision>((decision, question) => {
    const verdict = question.parked
      ? unattendedVerdict(whenUnattended(state), question.request)
      : undefined
    return verdict === undefined
      ? decision
      : followedBy(decision, (current) => resolve(current, question, verdict))
  }, before)
}

/** A verdict came: a turn that was parked since a restart goes on, its open calls first. */
export const resumeParkedTurn = (state: State): Decision => {
  const { turn } = state
  if (turn?.parked === undefined || state.approvals.unclaimed === undefined) return nothing(state)
  const { parked, ...running } = turn
  return {
    ...nothing({ ...state, turn: running }),
    actions: [{ _tag: "StartTurn", id: turn.id, calls: parked }],
  }
}

/** The turn is over or about to be: nobody needs to answer any more. */
export const withdrawAll = (state: State): Decision => {
  const verdict = denied(state.closing ? "shutdown" : "withdrawn")
  const { unclaimed: _, ...approvals } = state.approvals
  return state.approvals.open.reduce<Decision>(
    (decision, question) => followedBy(decision, (current) => resolve(current, question, verdict)),
    nothing({ ...state, approvals }),
  )
}

/** A listener that can answer came or went. With the first, the deadlines of what was parked begin. */
export const countListener = (state: State, input: InputOf<"ListenersChanged">): Decision => ({
  ...nothing({ ...state, approvals: Book.countListener(state.approvals, input) }),
  actions: state.approvals.open.flatMap((question) =>
    Book.isUnparkedBy(question, input)
      ? [{ _tag: "StartDeadline", number: question.number, after: deadlineOf(state) } as const]
      : [],
  ),
})
