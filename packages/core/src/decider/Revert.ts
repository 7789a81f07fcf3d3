/**
 * The op `revert`: drops a turn and all later ones. A running turn is interrupted first, and what waits for its end is
 * dropped; the queue of input stays, held. Input that is submitted behind the op belongs to what is left: it waits, and its
 * turn starts after the event `thread_rolled_back`. Pure.
 */
import { SubmissionRefused } from "../ConversationErrors.ts"
import { type Decision, nothing } from "./Decision.ts"
import { maxWaiting } from "./InputQueue.ts"
import type { PendingRevert, State } from "./State.ts"
import { interrupt, startNext } from "./TurnEnd.ts"

const refuse = (state: State, reason: SubmissionRefused["reason"], message: string): Decision => ({
  ...nothing(state),
  refused: new SubmissionRefused({ reason, message }),
})

/**
 * Decides the op.
 *
 * @param dropped number of user messages from the turn on; undefined if the conversation contains no such turn
 */
export const revert = (
  state: State,
  {
    dropped,
    id,
    turnId,
  }: Omit<PendingRevert, "dropped"> & { readonly dropped: number | undefined },
): Decision => {
  if (dropped === undefined) return refuse(state, "NoSuchTurn", `turn not found: ${turnId}`)
  const { reverts = [], turn } = state
  if (reverts.length >= maxWaiting) {
    const message = `${maxWaiting} reverts wait for the end of the turn already, which is the limit`
    return refuse(state, "TooManyWaiting", message)
  }
  const next: State = { ...state, reverts: [...reverts, { id, turnId, dropped }] }
  return turn === undefined
    ? { ...startNext(next, "waiting"), receipt: { id, disposition: "none" } }
    : { ...interrupt(next), receipt: { id, disposition: "waiting" } }
}

/** True while a revert waits and nothing behind it does: the turn that runs is not in the way of what is submitted now. */
export const isReverting = ({ reverts, waiting }: State): boolean =>
  reverts !== undefined && waiting.every(({ inQueue }) => inQueue === true)
