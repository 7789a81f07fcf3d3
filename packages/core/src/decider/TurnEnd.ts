/**
 * How a turn goes on or ends. Keeps L5: every accepted turn, also one that only waited, gets exactly one terminal
 * event, after everything else of it. Pure.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import type { Draft, State } from "./State.ts"
import { withdrawAll } from "./ApprovalDecisions.ts"
import { type Decision, followedBy, type InputOf, nothing, type TurnExit } from "./Decision.ts"
import { startTurn } from "./TurnStart.ts"
import { unfinishedEvents } from "../log/UnfinishedText.ts"

/** The turn has heard the model out: another request, or the end. */
export const advance = (state: State, input: InputOf<"Advance">): Decision => {
  const { turn } = state
  if (turn?.id !== input.turnId || turn.aborting !== undefined) {
    return { ...nothing(state), proceed: false }
  }
  if (input.followUp || turn.inputSeq > input.sawSeq) return { ...nothing(state), proceed: true }
  return {
    ...after(state, [
      { id: turn.id, msg: { type: "task_complete", last_agent_message: input.lastMessage } },
    ]),
    proceed: false,
  }
}

/** The fiber of the turn is gone; a turn that had completed by then is left alone. */
export const turnEnded = (state: State, turnId: SubmissionId, exit: TurnExit): Decision => {
  if (state.turn?.id !== turnId) return nothing(state)
  const unfinished = unfinishedEvents(state.turn.unfinished).map((msg) => ({ id: turnId, msg }))
  // A failure that raced with an interrupt still ends as the interrupt that was acknowledged.
  if (exit._tag === "Interrupted" || state.turn.aborting !== undefined) {
    return after(state, [
      ...unfinished,
      { id: turnId, msg: { type: "turn_aborted", reason: state.turn.aborting ?? "interrupted" } },
    ])
  }
  return after(state, [
    ...unfinished,
    { id: turnId, msg: { type: "error", message: exit.message } },
    { id: turnId, msg: { type: "task_complete", last_agent_message: null } },
  ])
}

/** The turn is over with these events, behind the end of its questions; what waits for its end follows. */
const after = (before: State, events: ReadonlyArray<Draft>): Decision =>
  followedBy(
    followedBy(withdrawAll(before), (state) => ({ ...nothing(state), events })),
    startNext,
  )

/** Nothing runs any more: the first of what waits does, or the end that was asked for. */
export const startNext = (state: State): Decision => {
  if (state.closing) return closeConversation(nothing(state))
  const [next, ...waiting] = state.waiting
  if (next === undefined) return nothing(state)
  const { receipt: _, ...decision } = startTurn({ ...state, waiting }, next)
  return decision
}

/** The last word of a conversation. */
export const closeConversation = (decision: Decision): Decision => ({
  ...decision,
  events: [
    ...decision.events,
    { id: decision.state.shutdownId ?? "", msg: { type: "shutdown_complete" } },
  ],
  actions: [...decision.actions, { _tag: "Close" }],
})

const aborted = (id: SubmissionId): Draft => ({
  id,
  msg: { type: "turn_aborted", reason: "interrupted" },
})

/**
 * Tells the running turn to stop, once; its terminal event carries the reason. One that is parked since a restart has
 * nothing to stop and ends at once.
 */
export const stopTurn = (state: State, reason: TurnAbortReason): Decision => {
  const { turn } = state
  if (turn === undefined || turn.aborting !== undefined) return nothing(state)
  const stopping = { ...state, turn: { ...turn, aborting: reason } }
  if (turn.parked !== undefined) return turnEnded(stopping, turn.id, { _tag: "Interrupted" })
  return followedBy(withdrawAll(stopping), (stopped) => ({
    ...nothing(stopped),
    actions: [{ _tag: "InterruptTurn" }],
  }))
}

/** Stops the running turn and drops what waits; each dropped submission gets its terminal event (L5). */
export const interrupt = (state: State): Decision => {
  const dropped = state.waiting.map(({ id }) => aborted(id))
  const stopped = stopTurn({ ...state, waiting: [] }, "interrupted")
  // Where the turn ends at once nothing may follow its end but what follows from it.
  const events =
    state.turn?.parked === undefined
      ? [...stopped.events, ...dropped]
      : [...dropped, ...stopped.events]
  return { ...stopped, events }
}

/** Stops one submission and leaves the others. */
export const cancel = (state: State, id: SubmissionId): Decision => {
  if (state.turn?.id === id) return stopTurn(state, "interrupted")
  if (!state.waiting.some((w) => w.id === id)) return nothing(state)
  return {
    ...nothing({ ...state, waiting: state.waiting.filter((w) => w.id !== id) }),
    events: [aborted(id)],
  }
}
