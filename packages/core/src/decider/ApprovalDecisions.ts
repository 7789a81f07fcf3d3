/**
 * What a conversation decides about its questions. Keeps L7: a question is asked only if a listener can answer it, is
 * resolved once, by answer, deadline, withdrawal or shutdown, and is denied in every other case. Pure.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { defined } from "@colloquy/protocol/Defined"
import * as Duration from "effect/Duration"
import type { Unattended, Verdict } from "../approvals/Approval.ts"
import * as Book from "./ApprovalBook.ts"
import { requestEvent, resolvedEvent } from "../question/ApprovalEvents.ts"
import {
  isApproval,
  isFoundAgain,
  type Outcome,
  type QuestionRequest,
} from "../approvals/Elicitation.ts"
import { canBePut, canBeRead } from "../question/FormLimits.ts"
import { SubmissionRefused } from "../ConversationErrors.ts"
import type { State } from "./State.ts"
import { type Decision, followedBy, type InputOf, nothing } from "./Decision.ts"
import { grantFor, grantOf } from "../approvals/SessionGrants.ts"
import { granting, verdictOfHeld } from "./HeldPermissions.ts"

/** Long enough for a person who was away for a moment, short enough that no call waits for days. */
const defaultDeadline = Duration.minutes(10)

const deadlineOf = (state: State) => state.settings.approvalDeadline ?? defaultDeadline

const denied = (reason: Verdict["reason"]): Verdict => ({ decision: "denied", reason })

/** Gives the tool its verdict. */
const settle = (number: number, verdict: Outcome) =>
  ({ _tag: "ResolveQuestion", number, verdict }) as const

/** What an answer contains besides its decision. */
type Answer = Pick<Outcome, "content" | "result" | "permissions">

/** Resolves the question. Listeners and the tool get the verdict; only the tool gets what was filled in or returned. */
const resolve = (
  state: State,
  question: Book.Question,
  given: Verdict,
  { permissions, ...answer }: Answer = {},
): Decision => {
  const { number, request, turnId } = question
  const verdict = granting(request, given, permissions)
  const grant =
    verdict.decision === "approved_for_session" && isApproval(request)
      ? grantOf(request)
      : undefined
  const outcome = { ...verdict, ...answer }
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

/**
 * The verdict of the setting `unattended`; undefined when the question is to wait for a listener. A call of a client's tool
 * never waits for a client that may not come.
 */
const unattendedVerdict = (setting: Unattended, request: QuestionRequest): Verdict | undefined => {
  if (request._tag === "ClientCall") return denied("unattended")
  if (setting === "park") return undefined
  if (setting === "deny" || !isApproval(request)) return denied("unattended")
  try {
    // The rule may return anything: only `true` allows, a promise does not.
    const allowed: unknown = setting.allow(request)
    return allowed === true ? { decision: "approved", reason: "unattended" } : denied("unattended")
  } catch {
    return denied("failed")
  }
}

/** A form is denied while a listener answers approvals only: it does not wait for another listener. */
const whenUnattended = ({ approvals, settings }: State): Unattended =>
  approvals.approvalListeners > 0 ? "deny" : (settings.unattended ?? "deny")

/** A form has no call id of the model, since several calls may run. The number of its event is unique in the log. */
const named = (request: InputOf<"Ask">["request"], seq: number): QuestionRequest =>
  request._tag === "Elicitation" ? { ...request, callId: `elicitation-${seq}` } : request

/**
 * A tool asks. A question that its call asked before a restart is not asked again: the tool gets its verdict, or waits for
 * it. A different question of that call from before the restart is withdrawn.
 */
export const askQuestion = (state: State, input: InputOf<"Ask">): Decision => {
  const { number, request, turnId } = input
  if (state.turn?.id !== turnId || !isFoundAgain(request)) return askAnew(state, input)
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

/** Asks a new question. If no listener can answer it, it is resolved at once and no request is delivered. */
const askAnew = (state: State, input: InputOf<"Ask">): Decision => {
  const { number, turnId } = input
  const { approvals, turn } = state
  const request = named(input.request, state.seq)
  if (turn?.id !== turnId || turn.aborting !== undefined) {
    const verdict = denied(state.closing ? "shutdown" : "withdrawn")
    return { ...nothing(state), actions: [settle(number, verdict)] }
  }
  const atOnce = (given: Verdict, grant?: string): Decision => {
    const verdict = granting(request, given)
    return {
      ...nothing(state),
      events: [{ id: turnId, msg: resolvedEvent(request.callId, verdict, grant) }],
      actions: [settle(number, verdict)],
    }
  }
  const question = { number, seq: state.seq, turnId, request }
  const grant = isApproval(request) ? grantFor(approvals.grants, request) : undefined
  if (grant !== undefined) return atOnce({ decision: "approved", reason: "granted" }, grant)
  const held = verdictOfHeld(state.permissions, request)
  if (held !== undefined) return atOnce(held)
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
 * Resolves a question by an answer; the first one wins. `because` says that there was no readable answer, which counts as
 * a denial; so does an answer that exceeds the size limit. `abort` only resolves the question here: the caller interrupts
 * the turn.
 */
export const answerQuestion = (
  state: State,
  submissionId: SubmissionId,
  kind: QuestionRequest["_tag"],
  {
    decision,
    content,
    permissions,
    result,
    ...named
  }: Book.Named & Answer & Pick<Verdict, "decision">,
  because?: "malformed" | "failed",
): Decision => {
  const found = Book.find(state.approvals, kind, named)
  if ("miss" in found) {
    const { miss, message } = found
    return { ...nothing(state), refused: new SubmissionRefused({ reason: miss, message }) }
  }
  const fault = because ?? (canBeRead({ content, result }) ? undefined : "malformed")
  const answered: Verdict = { decision, reason: "answered" }
  const resolved =
    fault === undefined
      ? resolve(state, found.question, answered, defined({ content, permissions, result }))
      : resolve(state, found.question, denied(fault))
  return {
    ...resolved,
    receipt: { id: submissionId, disposition: "none" },
  }
}

/** Denies a question that expired or was withdrawn. Does nothing for one that is resolved already. */
export const closeUnanswered = (
  state: State,
  number: number,
  reason: "expired" | "withdrawn",
): Decision => {
  const question = state.approvals.open.find((open) => open.number === number)
  return question === undefined ? nothing(state) : resolve(state, question, denied(reason))
}

/** The grace period has ended: parked questions are decided as if they were asked now. */
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

/** Resumes a turn that waited for answers since a restart, once there is a verdict. Its open calls are replayed first. */
export const resumeParkedTurn = (state: State): Decision => {
  const { turn } = state
  if (turn?.parked === undefined || state.approvals.unclaimed === undefined) return nothing(state)
  const { parked, ...running } = turn
  return {
    ...nothing({ ...state, turn: running }),
    actions: [{ _tag: "StartTurn", id: turn.id, calls: parked }],
  }
}

/** Withdraws every pending question: the turn has ended or is about to. */
export const withdrawAll = (state: State): Decision => {
  const verdict = denied(state.closing ? "shutdown" : "withdrawn")
  const { unclaimed: _, ...approvals } = state.approvals
  return state.approvals.open.reduce<Decision>(
    (decision, question) => followedBy(decision, (current) => resolve(current, question, verdict)),
    nothing({ ...state, approvals }),
  )
}

/**
 * Counts an attached or detached listener. Deadlines of questions that it unparks start now; the calls of clients' tools that
 * nobody can run any more have failed.
 */
export const countListener = (state: State, input: InputOf<"ListenersChanged">): Decision => {
  const counted: Decision = {
    ...nothing({ ...state, approvals: Book.countListener(state.approvals, input) }),
    actions: state.approvals.open.flatMap((question) =>
      Book.isUnparkedBy(question, input)
        ? [{ _tag: "StartDeadline", number: question.number, after: deadlineOf(state) } as const]
        : [],
    ),
  }
  const { callListeners, open } = counted.state.approvals
  return input.by === 1 || callListeners > 0
    ? counted
    : open.reduce<Decision>(
        (decision, question) =>
          question.request._tag === "ClientCall" && !question.parked
            ? followedBy(decision, (current) => resolve(current, question, denied("unattended")))
            : decision,
        counted,
      )
}
