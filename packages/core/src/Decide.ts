/**
 * The decisions of a conversation: `decide(state, input)` says which events follow and what is to be done. Pure: the
 * one fiber in `Conversation.ts` interprets.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { ConversationClosed, SubmissionRefused } from "./ConversationErrors.ts"
import type { State, Waiting } from "./ConversationState.ts"
import { type Decision, type Input, type InputOf, nothing, type WhileRunning } from "./Decision.ts"
import { advance, cancel, closed, ended, interrupt } from "./TurnEnd.ts"
import { inputEvents, start, withContext } from "./TurnStart.ts"

/** Submissions that may wait for a turn of their own; one more is refused. */
export const maxWaiting = 64

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
      return state.turn?.id === input.turnId
        ? { ...nothing(state), events: input.messages.map((msg) => ({ id: input.turnId, msg })) }
        : nothing(state)
    case "Advance":
      return advance(state, input)
    case "Ended":
      return ended(state, input.turnId, input.exit)
  }
}

const submit = (state: State, input: InputOf<"Submit">): Decision => {
  if (state.closing) return { ...nothing(state), refused: new ConversationClosed() }
  if (input.id !== undefined && isTaken(state, input.id)) {
    return refuse(state, "DuplicateId", `submission id \`${input.id}\` is taken`)
  }
  const { id, state: named } = nameSubmission(state, input.id)
  const done: Decision = { ...nothing(named), receipt: { id, disposition: "none" } }
  const { op } = input
  switch (op.type) {
    case "user_input":
      return op.items.length === 0
        ? done
        : userInput(named, { id, items: op.items }, input.whileRunning)
    case "user_turn":
      return op.items.length === 0
        ? done
        : userInput(named, { id, items: op.items, context: op }, input.whileRunning)
    case "override_turn_context":
      return { ...done, ...withContext(named, id, op) }
    case "interrupt":
      return { ...interrupt(named), receipt: { id, disposition: "none" } }
    case "shutdown": {
      const stopped = interrupt({ ...named, closing: true, shutdownId: id })
      return {
        ...stopped,
        ...(named.turn === undefined ? closed(stopped) : {}),
        receipt: { id, disposition: "none" },
      }
    }
    default:
      return refuse(
        state,
        "UnsupportedOp",
        `op \`${op.type}\` is not supported by this conversation`,
      )
  }
}

const refuse = (state: State, reason: SubmissionRefused["reason"], message: string): Decision => ({
  ...nothing(state),
  refused: new SubmissionRefused({ reason, message }),
})

const isTaken = (state: State, id: SubmissionId): boolean =>
  state.chosenIds.includes(id) || (/^(0|[1-9]\d*)$/.test(id) && Number(id) < state.nextId)

const nameSubmission = (state: State, chosen: SubmissionId | undefined) => {
  if (chosen !== undefined) {
    return { id: chosen, state: { ...state, chosenIds: [...state.chosenIds, chosen] } }
  }
  let next = state.nextId
  while (state.chosenIds.includes(String(next))) next++
  return { id: String(next), state: { ...state, nextId: next + 1 } }
}

const userInput = (state: State, submission: Waiting, whileRunning: WhileRunning): Decision => {
  if (state.turn === undefined) return start(state, submission)
  switch (whileRunning) {
    case "queue":
      // A turn that is being stopped takes nothing in: the input gets a turn of its own.
      return state.turn.aborting !== undefined
        ? wait(state, submission)
        : {
            ...nothing(state),
            events: inputEvents(state.turn.id, submission.items),
            receipt: { id: state.turn.id, disposition: "joined" },
          }
    case "wait":
      return wait(state, submission)
    case "reject":
      return refuse(state, "TurnRunning", `turn \`${state.turn.id}\` is running`)
  }
}

const wait = (state: State, submission: Waiting): Decision =>
  state.waiting.length >= maxWaiting
    ? refuse(state, "TooManyWaiting", `${maxWaiting} submissions are waiting already`)
    : {
        ...nothing({ ...state, waiting: [...state.waiting, submission] }),
        receipt: { id: submission.id, disposition: "waiting" },
      }
