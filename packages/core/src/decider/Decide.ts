/**
 * The decisions of a conversation: `decide(state, input)` returns the events that follow and the actions to carry out.
 * Pure: `ConversationActor` records the events, delivers them and carries out the actions.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import { isLegacyOp } from "@colloquy/protocol/Op"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import {
  askQuestion,
  countListener,
  closeUnanswered,
  graceEnded,
  resumeParkedTurn,
} from "./ApprovalDecisions.ts"
import { ConversationClosed, SubmissionRefused } from "../ConversationErrors.ts"
import { addToQueue, decideQueue, waitingFault } from "./InputQueue.ts"
import {
  autoCompactId,
  isAutoCompactId,
  type QueuedSubmission,
  queuedOf,
  type RunningTurn,
  type State,
} from "./State.ts"
import { isReverting, revert } from "./Revert.ts"
import { isMarked } from "../log/Reading.ts"
import { triggerText } from "../log/Compacted.ts"
import {
  type Decision,
  followedBy,
  type Input,
  type InputOf,
  nothing,
  type WhileRunning,
} from "./Decision.ts"
import { answer } from "./Answers.ts"
import { startListing, finishListing } from "./ToolListings.ts"
import { nextAutomatic, isSpent, keep, receiptOf } from "./Receipts.ts"
import { advance, cancel, closeConversation, turnEnded, interrupt, stopTurn } from "./TurnEnd.ts"
import { maxItems, maxTextLength, textLength } from "./InputLength.ts"
import { inputEvents, startTurn, withContext } from "./TurnStart.ts"
import { unfinishedAfter } from "../log/UnfinishedText.ts"

/** Decides one input. The state of the decision does not include its events yet. */
export const decide = (state: State, input: Input): Decision => {
  switch (input._tag) {
    case "Submit": {
      const decision = submit(state, input)
      // A refused submission changes nothing: its id stays free, too.
      return decision.refused === undefined ? decision : { ...decision, state }
    }
    case "Cancel":
      return cancel(state, input.id)
    case "Emit":
      return state.turn?.id === input.turnId ? emit(state, input) : nothing(state)
    case "Advance":
      return advance(state, input)
    case "Ask":
      return askQuestion(state, input)
    case "StartCall":
      return startCall(state, input)
    case "Expire":
      return followedBy(closeUnanswered(state, input.number, "expired"), resumeParkedTurn)
    case "Withdraw":
      return closeUnanswered(state, input.number, "withdrawn")
    case "GraceEnded":
      return graceEnded(state)
    case "ListenersChanged":
      return countListener(state, input)
    case "Listed":
      return finishListing(state, input)
    case "Ended":
      return turnEnded(state, input.turnId, input.exit)
  }
}

/** A call runs only after its record: after a restart the log says whether it had started. */
const startCall = (state: State, { _tag: _, ...call }: InputOf<"StartCall">): Decision => {
  const { turn } = state
  return turn?.id !== call.turnId || turn.aborting !== undefined
    ? { ...nothing(state), proceed: false }
    : { ...nothing(state), records: [{ _tag: "ToolCall", ...call }], proceed: true }
}

const emit = (state: State, { messages, ofCompaction, turnId }: InputOf<"Emit">): Decision => {
  const ofTurn = ofCompaction === true ? undefined : state.turn
  const id = ofTurn === undefined ? autoCompactId(state.autoCompactions) : turnId
  const unfinished = unfinishedAfter(ofTurn?.unfinished, id, messages)
  const next =
    ofTurn === undefined || unfinished === ofTurn.unfinished
      ? state
      : { ...state, turn: { ...ofTurn, unfinished } }
  // Without a copy of `nothing`: most decisions are about a piece of a text.
  return { state: next, events: messages.map((msg) => ({ id, msg })), actions: [] }
}

const submit = (state: State, input: InputOf<"Submit">): Decision => {
  const { id: chosen } = input
  if (state.closing) return { ...nothing(state), refused: new ConversationClosed() }
  if (chosen === undefined) {
    const { id, receipts } = nextAutomatic(state.receipts)
    return accept({ ...state, receipts }, id, input)
  }
  if (isAutoCompactId(chosen)) {
    return refuse(
      state,
      "DuplicateId",
      `submission id \`${chosen}\` is reserved for the conversation`,
    )
  }
  const receipt = receiptOf(state.receipts, chosen)
  if (receipt !== undefined) return { ...nothing(state), receipt }
  if (isSpent(state.receipts, chosen)) {
    return refuse(state, "DuplicateId", `submission id \`${chosen}\` is already in use`)
  }
  const decision = accept(state, chosen, input)
  if (decision.receipt === undefined) return decision
  const receipts = keep(decision.state.receipts, chosen, decision.receipt)
  return { ...decision, state: { ...decision.state, receipts } }
}

const accept = (state: State, id: SubmissionId, input: InputOf<"Submit">): Decision => {
  const { op, whileRunning } = input
  const done: Decision = { ...nothing(state), receipt: { id, disposition: "none" } }
  if (isLegacyOp(op)) {
    return refuse(state, "UnsupportedOp", `op \`${op.type}\` is not supported by this conversation`)
  }
  switch (op.type) {
    case "user_input":
    case "user_turn":
      return userInput(state, queuedOf(id, op), whileRunning)
    case "run_user_shell_command":
    case "compact":
      return withoutInput(state, id, op, whileRunning)
    case "review":
      return review(state, queuedOf(id, op), whileRunning)
    case "revert":
      return revert(state, { id, turnId: op.turn_id, dropped: input.dropped })
    case "mark_read":
      return markRead(state, id, op)
    case "edit_queued":
      return sizeFault(state, op.items) ?? decideQueue(state, id, op)
    case "remove_queued":
    case "reorder_queue":
    case "start_queued":
      return decideQueue(state, id, op)
    case "override_turn_context":
      return { ...done, ...withContext(state, id, op) }
    case "interrupt":
      return { ...done, ...interrupt(state) }
    case "list_mcp_tools":
      return startListing(state, id)
    case "shutdown":
      return { ...done, ...shutDown(state, id) }
    default:
      return answer(state, id, op, input.because)
  }
}

/** A review is a turn by itself: where other input joins the running turn, it waits for the end of that turn. */
const review = (
  state: State,
  submission: QueuedSubmission,
  whileRunning: WhileRunning,
): Decision => {
  const joins = whileRunning === "queue" || whileRunning === "steer"
  return userInput(state, submission, joins ? "wait" : whileRunning)
}

const markRead = (
  state: State,
  id: SubmissionId,
  { read, revision }: Extract<Op, { readonly type: "mark_read" }>,
): Decision => {
  const { reading } = state
  if (revision !== undefined && revision !== (reading?.revision ?? -1)) {
    return refuse(state, "ReadingChanged", "what is unread has changed")
  }
  return {
    ...nothing(state),
    events: isMarked(reading, read) ? [] : [{ id, msg: { type: "read_marked", read } }],
    receipt: { id, disposition: "none" },
  }
}

/** Interrupts the running turn and ends the conversation after it, or at once. */
const shutDown = (state: State, id: SubmissionId): Decision => {
  const stopped = interrupt({ ...state, closing: true, shutdownId: id })
  return state.turn === undefined ? closeConversation(stopped) : stopped
}

const refuse = (state: State, reason: SubmissionRefused["reason"], message: string): Decision => ({
  ...nothing(state),
  refused: new SubmissionRefused({ reason, message }),
})

/** Places a summary of the history, or a command of the user that is not too long. */
const withoutInput = (
  state: State,
  id: SubmissionId,
  op: Extract<Op, { readonly type: "compact" | "run_user_shell_command" }>,
  whileRunning: WhileRunning,
): Decision => {
  const text = op.type === "compact" ? "" : op.command
  return sizeFault(state, [{ type: "text", text }]) ?? place(state, queuedOf(id, op), whileRunning)
}

const userInput = (
  state: State,
  submission: QueuedSubmission,
  whileRunning: WhileRunning,
): Decision => {
  const { id, items } = submission
  if (items.length === 0) return { ...nothing(state), receipt: { id, disposition: "none" } }
  return sizeFault(state, items) ?? place(state, submission, whileRunning)
}

/** The refusal of input that is larger than one submission may be. */
const sizeFault = (state: State, items: ReadonlyArray<InputItem>): Decision | undefined => {
  if (items.length > maxItems) {
    return refuse(
      state,
      "TooLarge",
      `${items.length} items; at most ${maxItems} are accepted at once`,
    )
  }
  const length = items.reduce((sum, item) => sum + textLength(item), 0)
  if (length > maxTextLength) {
    return refuse(
      state,
      "TooLarge",
      `${length} UTF-16 code units of text; at most ${maxTextLength} are accepted at once`,
    )
  }
  return undefined
}

/**
 * Decides where user input, or a summary of the history, runs: in the running turn, in a new one, or later. A command of the
 * user has a turn of its own.
 */
const place = (
  state: State,
  submission: QueuedSubmission,
  whileRunning: WhileRunning,
): Decision => {
  const { turn } = state
  const isCommand = submission.command !== undefined
  const joinable = turn !== undefined && !isCommand && acceptsInput(turn)
  if (whileRunning === "steer" && !joinable) {
    return refuse(
      state,
      "NoTurnRunning",
      turn === undefined ? "no turn is running" : whyNotJoined(turn, isCommand),
    )
  }
  if (whileRunning === "enqueue" && !isCommand) return addToQueue(state, submission)
  if (turn === undefined) return startTurn(state, submission)
  switch (whileRunning) {
    case "queue":
    case "steer":
      return joinable ? join(state, turn.id, submission) : enqueue(state, submission)
    case "wait":
    case "enqueue":
      return enqueue(state, submission)
    case "interrupt": {
      const waiting = enqueue(state, submission, true)
      return waiting.refused === undefined
        ? { ...waiting, ...stopTurn(waiting.state, "replaced") }
        : waiting
    }
    case "reject":
      if (isReverting(state)) return enqueue(state, submission)
      return refuse(state, "TurnRunning", `turn \`${turn.id}\` is running`)
  }
}

/** A turn that is being interrupted accepts no input, nor does a review or one that summarises the history. */
const acceptsInput = ({ aborting, compacts, review: reviewed }: RunningTurn): boolean =>
  aborting === undefined && !compacts && reviewed === undefined

const whyNotJoined = ({ aborting, compacts, id }: RunningTurn, isCommand: boolean): string => {
  if (isCommand) return "a command of the user runs as a turn of its own"
  if (aborting !== undefined) return `turn \`${id}\` is being interrupted`
  return compacts
    ? `turn \`${id}\` summarises the history and accepts no input`
    : `turn \`${id}\` is a review and accepts no input`
}

/** Input joins the running turn. A `compact` becomes the message that asks that turn for a summary. */
const join = (state: State, turnId: SubmissionId, submission: QueuedSubmission): Decision => {
  const request: ReadonlyArray<InputItem> = [{ type: "text", text: triggerText }]
  const items = submission.items.length === 0 ? request : submission.items
  return {
    ...nothing(state),
    events: inputEvents(turnId, { ...submission, items }),
    receipt: { id: turnId, disposition: "joined" },
  }
}

/** Queues the submission for a later turn; `first`: before those that are queued already. */
const enqueue = (state: State, submission: QueuedSubmission, first = false): Decision =>
  waitingFault(state) ?? {
    ...nothing({
      ...state,
      waiting: first ? [submission, ...state.waiting] : [...state.waiting, submission],
    }),
    receipt: { id: submission.id, disposition: "waiting" },
  }
