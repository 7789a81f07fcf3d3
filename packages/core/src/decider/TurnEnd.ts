/**
 * How a turn continues or ends. Keeps L5: every accepted turn, also one that was only queued, gets exactly one terminal
 * event, after all its other events. Pure.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import type { Draft, RunningTurn, State } from "./State.ts"
import { withdrawAll } from "./ApprovalDecisions.ts"
import { type Decision, followedBy, type InputOf, nothing, type TurnExit } from "./Decision.ts"
import { removeQueued, startWaiting } from "./InputQueue.ts"
import { unfinishedEvents } from "../log/UnfinishedText.ts"

/** A response of the model is complete: the turn sends another request, or ends. */
export const advance = (state: State, input: InputOf<"Advance">): Decision => {
  const { turn } = state
  if (turn?.id !== input.turnId || turn.aborting !== undefined) {
    return { ...nothing(state), proceed: false }
  }
  if (input.followUp || turn.inputSeq > input.sawSeq) return { ...nothing(state), proceed: true }
  const completed: Draft = {
    id: turn.id,
    msg: { type: "task_complete", last_agent_message: input.lastMessage },
  }
  return { ...after(state, [...unfinishedOf(turn), completed], "all"), proceed: false }
}

/** Records what of the turn no finished item repeats, and ends its review. */
const unfinishedOf = ({ id, review, unfinished }: RunningTurn): ReadonlyArray<Draft> => {
  const ended: ReadonlyArray<EventMsg> =
    review === "open" ? [{ type: "exited_review_mode", review_output: null }] : []
  return [...unfinishedEvents(unfinished), ...ended].map((msg) => ({ id, msg }))
}

/** The fiber of the turn has ended. Does nothing if the turn had completed before. */
export const turnEnded = (state: State, turnId: SubmissionId, exit: TurnExit): Decision => {
  if (state.turn?.id !== turnId) return nothing(state)
  const unfinished = unfinishedOf(state.turn)
  // A failure that raced with an interrupt still ends as the interrupt that was acknowledged.
  if (exit._tag === "Interrupted" || state.turn.aborting !== undefined) {
    const aborted: Draft = {
      id: turnId,
      msg: { type: "turn_aborted", reason: state.turn.aborting ?? "interrupted" },
    }
    return after(state, [...unfinished, aborted], "waiting")
  }
  const failed: ReadonlyArray<Draft> = [
    {
      id: turnId,
      msg: {
        type: "error",
        message: exit.message,
        ...defined({ refused_images: exit.refusedImages }),
      },
    },
    { id: turnId, msg: { type: "task_complete", last_agent_message: null } },
  ]
  return after(state, [...unfinished, ...failed], "waiting")
}

/** What may start after a turn. `waiting`: the queue of input is held, because the turn did not complete. */
type Startable = "all" | "waiting"

/** Ends the turn with these events, after its questions are withdrawn; then the next queued turn starts. */
const after = (before: State, events: ReadonlyArray<Draft>, startable: Startable): Decision =>
  followedBy(
    followedBy(withdrawAll(before), (state) => ({ ...nothing(state), events })),
    (state) => startNext(state, startable),
  )

/** Carries out the reverts that waited for the end of the turn. A later one counts what the earlier ones have left. */
const revertPending = (state: State): Decision => {
  if (state.reverts === undefined) return nothing(state)
  const { reverts, ...rest } = state
  let gone = 0
  const events = reverts.map(({ dropped, id, turnId: turn_id }): Draft => {
    const num_turns = Math.max(0, dropped - gone)
    gone += num_turns
    return { id, msg: { type: "thread_rolled_back", num_turns, turn_id } }
  })
  return { ...nothing(rest), events }
}

/** No turn runs: drops what is to be dropped, and starts the first queued turn, or ends the conversation after a shutdown. */
export const startNext = (state: State, startable: Startable): Decision =>
  followedBy(revertPending(state), (current) => startQueued(current, startable))

const startQueued = (state: State, startable: Startable): Decision => {
  if (state.closing) return closeConversation(nothing(state))
  const next = state.waiting.find(({ inQueue }) => startable === "all" || inQueue !== true)
  if (next === undefined) return nothing(state)
  const { receipt: _, ...decision } = startWaiting(state, next)
  return decision
}

/** Adds the last event of a conversation, and the end of its fiber. */
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
 * Interrupts the running turn, once; its terminal event has this reason. A turn that only waits for answers since a
 * restart has no fiber and ends at once.
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

/**
 * Interrupts the running turn and drops those that wait for its end; each of them gets its terminal event (L5). The queue of
 * input stays.
 */
export const interrupt = (state: State): Decision => {
  const kept = state.waiting.filter(({ inQueue }) => inQueue === true)
  const dropped = state.waiting.filter((one) => !kept.includes(one)).map(({ id }) => aborted(id))
  const stopped = stopTurn({ ...state, waiting: kept }, "interrupted")
  // A turn that ends at once: its terminal event comes last, before what follows from it.
  const events =
    state.turn?.parked === undefined
      ? [...stopped.events, ...dropped]
      : [...dropped, ...stopped.events]
  return { ...stopped, events }
}

/** Cancels one submission, running or queued, and leaves the others alone. */
export const cancel = (state: State, id: SubmissionId): Decision => {
  if (state.turn?.id === id) return stopTurn(state, "interrupted")
  const queued = state.waiting.find((w) => w.id === id)
  if (queued === undefined) return nothing(state)
  if (queued.inQueue === true) return removeQueued(state, id)
  return {
    ...nothing({ ...state, waiting: state.waiting.filter((w) => w.id !== id) }),
    events: [aborted(id)],
  }
}
