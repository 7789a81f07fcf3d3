/**
 * Which turn may start while its start is being recorded. Its request to the model is on its way by the time it is
 * recorded; everything else of a turn goes through the inbox, which is read again only then (L10). Pure.
 */
import type { Action, Decision } from "../decider/Decision.ts"
import type { State } from "../decider/State.ts"

/** The action that starts a turn. */
export type StartTurn = Extract<Action, { readonly _tag: "StartTurn" }>

/**
 * The start, among these decisions, of the turn that runs after them. Undefined while the turn before it is not recorded as
 * ended, and for a turn whose first request needs more than its input: one that replays calls, summarises the history or runs a command of
 * the user.
 */
export const earlyStart = (
  current: State,
  { turn }: State,
  decisions: ReadonlyArray<{ readonly decision: Decision }>,
): StartTurn | undefined => {
  if (current.turn !== undefined || turn === undefined) return undefined
  if (turn.aborting !== undefined || turn.compacts || turn.runsCommand === true) return undefined
  for (const { decision } of decisions) {
    for (const action of decision.actions) {
      if (action._tag !== "StartTurn" || action.id !== turn.id) continue
      return action.calls === undefined ? action : undefined
    }
  }
  return undefined
}
