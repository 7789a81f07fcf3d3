/**
 * The decisions of a conversation: `decide(state, input)` says which events follow and what is to be done. Pure: the
 * one fiber in `Conversation.ts` interprets.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { isLegacyOp } from "@colloquy/protocol/Op"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import {
  answerQuestion,
  askQuestion,
  countListener,
  closeUnanswered,
  graceEnded,
  resumeParkedTurn,
} from "./ApprovalDecisions.ts"
import { ConversationClosed, SubmissionRefused } from "../ConversationErrors.ts"
import { autoCompactId, isAutoCompactId, type State, type QueuedSubmission } from "./State.ts"
import { triggerText } from "../log/Compacted.ts"
import {
  type Decision,
  followedBy,
  type Input,
  type InputOf,
  nothing,
  type WhileRunning,
} from "./Decision.ts"
import { decisionOf } from "../approvals/Elicitation.ts"
import { startListing, finishListing } from "./ToolListings.ts"
import { nextAutomatic, isSpent, keep, receiptOf } from "./Receipts.ts"
import { advance, cancel, closeConversation, turnEnded, interrupt, stopTurn } from "./TurnEnd.ts"
import { inputEvents, startTurn, withContext } from "./TurnStart.ts"
import { unfinishedAfter } from "../log/UnfinishedText.ts"

/** Submissions that may wait for a turn of their own; one more is refused. */
export const maxWaiting = 64

/** Items of one submission: generous for a person, and an end for a mistake. */
export const maxItems = 1024
/**
 * Text of one submission in UTF-16 code units, images as data URLs included: 64 Mi, as much as one line of a client may
 * hold and one line of a stored conversation. The original has no limit and accepts a prompt of 40 MB.
 */
export const maxTextLength = 64 * 1024 * 1024

/** One step. The state of the decision is that before its events are folded into it. */
export const decide = (state: State, input: Input): Decision => {
  switch (input._tag) {
    case "Submit": {
      const decision = submit(state, input)
      // A refused submission leaves nothing behind, its id included.
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
      return begin(state, input)
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

/** It runs once that is recorded: after a restart nobody has to guess whether it did. */
const begin = (state: State, { _tag: _, ...call }: InputOf<"StartCall">): Decision => {
  const { turn } = state
  return turn?.id !== call.turnId || turn.aborting !== undefined
    ? { ...nothing(state), proceed: false }
    : { ...nothing(state), records: [{ _tag: "ToolCall", ...call }], proceed: true }
}

const emit = (state: State, { messages, ofCompaction, turnId }: InputOf<"Emit">): Decision => {
  const ofTurn = ofCompaction === true ? undefined : state.turn
  const id = ofTurn === undefined ? autoCompactId(state.autoCompactions) : turnId
  const unfinished = unfinishedAfter(ofTurn?.unfinished, messages)
  const next =
    ofTurn === undefined || unfinished === ofTurn.unfinished
      ? state
      : { ...state, turn: { ...ofTurn, unfinished } }
  return { ...nothing(next), events: messages.map((msg) => ({ id, msg })) }
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
      `submission id \`${chosen}\` is one of the conversation's own`,
    )
  }
  const receipt = receiptOf(state.receipts, chosen)
  if (receipt !== undefined) return { ...nothing(state), receipt }
  if (isSpent(state.receipts, chosen)) {
    return refuse(state, "DuplicateId", `submission id \`${chosen}\` is taken`)
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
      return userInput(state, { id, items: op.items }, whileRunning)
    case "user_turn":
      return userInput(state, { id, items: op.items, context: op }, whileRunning)
    case "compact":
      return placed(state, { id, items: [] }, whileRunning)
    case "override_turn_context":
      return { ...done, ...withContext(state, id, op) }
    case "interrupt":
      return { ...done, ...interrupt(state) }
    case "list_mcp_tools":
      return startListing(state, id)
    case "shutdown": {
      const stopped = interrupt({ ...state, closing: true, shutdownId: id })
      return { ...done, ...(state.turn === undefined ? closeConversation(stopped) : stopped) }
    }
    case "exec_approval":
    case "patch_approval": {
      const kind = op.type === "exec_approval" ? "Exec" : "Patch"
      const answered = answerQuestion(state, id, kind, op, input.because)
      // Like `interrupt`, but what waits was not asked about and stays.
      if (answered.refused !== undefined) return answered
      return input.because === undefined && op.decision === "abort"
        ? followedBy(answered, (current) => stopTurn(current, "interrupted"))
        : followedBy(answered, resumeParkedTurn)
    }
    case "elicitation_answer": {
      const { action, content, ...named } = op
      const filledIn = action === "accept" && content !== undefined ? { content } : {}
      const reply = { ...named, decision: decisionOf(action), ...filledIn }
      return answerQuestion(state, id, "Elicitation", reply, input.because)
    }
  }
}

const refuse = (state: State, reason: SubmissionRefused["reason"], message: string): Decision => ({
  ...nothing(state),
  refused: new SubmissionRefused({ reason, message }),
})

/** What an item brings into the history, in UTF-16 code units. */
const textLength = (item: InputItem): number => {
  switch (item.type) {
    case "text":
      return item.text.length
    case "image":
      return item.image_url.length
    case "local_image":
      return item.path.length
  }
}

const userInput = (
  state: State,
  submission: QueuedSubmission,
  whileRunning: WhileRunning,
): Decision => {
  const { id, items } = submission
  if (items.length === 0) return { ...nothing(state), receipt: { id, disposition: "none" } }
  if (items.length > maxItems) {
    return refuse(state, "TooLarge", `${items.length} items; at most ${maxItems} are taken at once`)
  }
  const length = items.reduce((sum, item) => sum + textLength(item), 0)
  if (length > maxTextLength) {
    return refuse(
      state,
      "TooLarge",
      `${length} UTF-16 code units of text; at most ${maxTextLength} are taken at once`,
    )
  }
  return placed(state, submission, whileRunning)
}

/** Input, or a summary of the history: where it runs. */
const placed = (
  state: State,
  submission: QueuedSubmission,
  whileRunning: WhileRunning,
): Decision => {
  const { turn } = state
  // A turn that is being stopped takes nothing in, nor one that summarises.
  const joinable = turn !== undefined && turn.aborting === undefined && !turn.compacts
  if (whileRunning === "steer" && !joinable) {
    return refuse(
      state,
      "NoTurnRunning",
      turn === undefined ? "no turn is running" : whyNotJoined(turn),
    )
  }
  if (turn === undefined) return startTurn(state, submission)
  switch (whileRunning) {
    case "queue":
    case "steer":
      return joinable ? join(state, turn.id, submission) : wait(state, submission)
    case "wait":
      return wait(state, submission)
    case "interrupt": {
      const waiting = wait(state, submission, true)
      return waiting.refused === undefined
        ? { ...waiting, ...stopTurn(waiting.state, "replaced") }
        : waiting
    }
    case "reject":
      return refuse(state, "TurnRunning", `turn \`${turn.id}\` is running`)
  }
}

const whyNotJoined = ({ aborting, id }: NonNullable<State["turn"]>): string =>
  aborting === undefined
    ? `turn \`${id}\` summarises the history and takes nothing in`
    : `turn \`${id}\` is being stopped`

/** A summary that is wanted while a turn runs is asked of that turn, in words (§6.9). */
const join = (state: State, turnId: SubmissionId, submission: QueuedSubmission): Decision => {
  const inWords: ReadonlyArray<InputItem> = [{ type: "text", text: triggerText }]
  const items = submission.items.length === 0 ? inWords : submission.items
  return {
    ...nothing(state),
    events: inputEvents(turnId, items),
    receipt: { id: turnId, disposition: "joined" },
  }
}

const wait = (state: State, submission: QueuedSubmission, first = false): Decision =>
  state.waiting.length >= maxWaiting
    ? refuse(state, "TooManyWaiting", `${maxWaiting} submissions are waiting already`)
    : {
        ...nothing({
          ...state,
          waiting: first ? [submission, ...state.waiting] : [...state.waiting, submission],
        }),
        receipt: { id: submission.id, disposition: "waiting" },
      }
