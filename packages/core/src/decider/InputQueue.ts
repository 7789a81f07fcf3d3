/**
 * The queue of input: submissions that run as turns by themselves, one after the other, and that clients may edit, move and
 * remove until they start. They are a part of the submissions that wait (`State.waiting`).
 *
 * The first one starts when a turn completes. A turn that was interrupted or has failed holds the queue, so that nothing
 * starts that nobody wants any more: it continues with `start_queued`, with further input for the queue, or after the next
 * turn that completes. A held queue survives the end of the process. Every change is reported with `queue_changed`. Pure.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import { SubmissionRefused } from "../ConversationErrors.ts"
import { type Decision, followedBy, nothing } from "./Decision.ts"
import type { Draft, QueuedSubmission, State } from "./State.ts"
import { startTurn } from "./TurnStart.ts"

/** Most submissions queued for later turns; one more is refused. */
export const maxWaiting = 64

type Waiting = State["waiting"]

/** The ops that change the queue and start nothing. A restart repeats them: their records contain them. */
type QueueChange = Extract<Op, { readonly type: "edit_queued" | "reorder_queue" }>

/** True for such an op. */
export const isQueueChange = (op: Op): op is QueueChange =>
  op.type === "edit_queued" || op.type === "reorder_queue"

/** The submissions in the queue, in their order. */
export const queueOf = ({ waiting }: Pick<State, "waiting">): Waiting =>
  waiting.filter(({ inQueue }) => inQueue === true)

/** True when this submission is in the queue. */
const queueHas = (state: State, id: SubmissionId): boolean =>
  queueOf(state).some((queued) => queued.id === id)

/** What waits once the op was carried out. */
export const changed = (waiting: Waiting, op: QueueChange): Waiting => {
  if (op.type === "edit_queued") {
    return waiting.map((one) =>
      one.id === op.id && one.inQueue === true ? { ...one, items: op.items } : one,
    )
  }
  const places = op.ids.flatMap((id) => waiting.filter((one) => one.id === id))
  return waiting.map((one) => (one.inQueue === true ? (places.shift() ?? one) : one))
}

const changeOf = (id: SubmissionId, state: State): Draft => ({
  id,
  msg: { type: "queue_changed", ids: queueOf(state).map((queued) => queued.id) },
})

/** The decision that the queue is now that of this state. */
const reported = (id: SubmissionId, state: State): Decision => ({
  ...nothing(state),
  events: [changeOf(id, state)],
})

/** The refusal of an op about a submission that is not in the queue. */
const notQueued = (state: State, id: SubmissionId): Decision => ({
  ...nothing(state),
  refused: new SubmissionRefused({
    reason: "NotQueued",
    message: `submission \`${id}\` is not in the queue`,
  }),
})

/** The refusal of a submission that would wait behind too many others; undefined while there is room. */
export const waitingFault = (state: State): Decision | undefined =>
  state.waiting.length < maxWaiting
    ? undefined
    : {
        ...nothing(state),
        refused: new SubmissionRefused({
          reason: "TooManyWaiting",
          message: `${maxWaiting} submissions are queued already, which is the limit`,
        }),
      }

/** Starts the turn of a submission that waits. */
export const startWaiting = (state: State, next: QueuedSubmission): Decision => {
  const rest = { ...state, waiting: state.waiting.filter(({ id }) => id !== next.id) }
  const started = startTurn(rest, next)
  return next.inQueue === true
    ? { ...started, events: [changeOf(next.id, rest), ...started.events] }
    : started
}

/** Adds a submission to the queue. Without a running turn the first one starts. */
export const addToQueue = (state: State, submission: QueuedSubmission): Decision => {
  const full = waitingFault(state)
  if (full !== undefined) return full
  const { id } = submission
  const added: State = { ...state, waiting: [...state.waiting, { ...submission, inQueue: true }] }
  const [first] = queueOf(added)
  if (state.turn === undefined && first?.id === id) return startWaiting(added, first)
  const decision: Decision = {
    ...reported(id, added),
    receipt: { id, disposition: "waiting" },
  }
  if (state.turn !== undefined || first === undefined) return decision
  return followedBy(decision, (current) => startWaiting(current, first))
}

/** Replaces the input of a submission in the queue. */
const editQueued = (
  state: State,
  id: SubmissionId,
  op: Extract<Op, { readonly type: "edit_queued" }>,
): Decision => {
  if (!queueHas(state, op.id)) return notQueued(state, op.id)
  if (op.items.length === 0) {
    const message = "the input of a queued submission must not be empty"
    return {
      ...nothing(state),
      refused: new SubmissionRefused({ reason: "BadQueueChange", message }),
    }
  }
  return reported(id, { ...state, waiting: changed(state.waiting, op) })
}

/** Removes a submission from the queue. Does nothing if it is not there. */
export const removeQueued = (state: State, id: SubmissionId): Decision => {
  if (!queueHas(state, id)) return nothing(state)
  const rest = { ...state, waiting: state.waiting.filter((one) => one.id !== id) }
  return {
    ...nothing(rest),
    events: [{ id, msg: { type: "turn_aborted", reason: "interrupted" } }, changeOf(id, rest)],
  }
}

/** Changes the order of the queue. */
const reorderQueue = (
  state: State,
  id: SubmissionId,
  op: Extract<Op, { readonly type: "reorder_queue" }>,
): Decision => {
  const ids = queueOf(state).map((queued) => queued.id)
  const unknown = op.ids.find((one) => !ids.includes(one))
  if (unknown !== undefined) return notQueued(state, unknown)
  if (op.ids.length !== ids.length || new Set(op.ids).size !== ids.length) {
    const message = `the new order has to name each of the ${ids.length} queued submissions once`
    return {
      ...nothing(state),
      refused: new SubmissionRefused({ reason: "BadQueueChange", message }),
    }
  }
  return reported(id, { ...state, waiting: changed(state.waiting, op) })
}

/** Starts a turn with a submission in the queue, by default the first one. */
const startQueued = (state: State, chosen: SubmissionId | undefined): Decision => {
  const { turn } = state
  if (turn !== undefined) {
    const message = `turn \`${turn.id}\` is running`
    return { ...nothing(state), refused: new SubmissionRefused({ reason: "TurnRunning", message }) }
  }
  const queue = queueOf(state)
  const next = chosen === undefined ? queue[0] : queue.find(({ id }) => id === chosen)
  if (next !== undefined) return startWaiting(state, next)
  if (chosen !== undefined) return notQueued(state, chosen)
  const message = "the queue is empty"
  return { ...nothing(state), refused: new SubmissionRefused({ reason: "NotQueued", message }) }
}

type QueueOp = QueueChange | Extract<Op, { readonly type: "remove_queued" | "start_queued" }>

const changeQueue = (
  state: State,
  id: SubmissionId,
  op: Exclude<QueueOp, { readonly type: "start_queued" }>,
): Decision => {
  switch (op.type) {
    case "edit_queued":
      return editQueued(state, id, op)
    case "reorder_queue":
      return reorderQueue(state, id, op)
    case "remove_queued":
      return queueHas(state, op.id) ? removeQueued(state, op.id) : notQueued(state, op.id)
  }
}

/** Decides an op about the queue; `id` is that of its submission. */
export const decideQueue = (state: State, id: SubmissionId, op: QueueOp): Decision => {
  if (op.type === "start_queued") return startQueued(state, op.id)
  const decision = changeQueue(state, id, op)
  return decision.refused === undefined
    ? { ...decision, receipt: { id, disposition: "none" } }
    : decision
}
