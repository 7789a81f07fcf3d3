/** The events that notify of what was repaired in a stored log. Pure. */
import type { State } from "../decider/State.ts"
import { type Decision, nothing } from "../decider/Decision.ts"

/** One warning for each fault of the log that was repaired. */
export const repairWarnings = (state: State, repairs: ReadonlyArray<string>): Decision => ({
  ...nothing(state),
  events: repairs.map((message) => ({ id: "", msg: { type: "warning", message } })),
})
