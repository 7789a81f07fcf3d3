/** The result of an operation in the form that the trace records. Pure. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { Answer } from "./Trace.ts"

/** The answer for an exit: its value, the tag and reason of its error, an interruption, or a defect. */
export const answerOf = (exit: Exit.Exit<unknown, unknown>): Answer => {
  if (Exit.isSuccess(exit)) return { is: "ok", value: exit.value ?? null }
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error
  if (typeof failure === "object" && failure !== null && "_tag" in failure) {
    const reason = "reason" in failure ? { reason: String(failure.reason) } : {}
    return { is: "error", tag: String(failure._tag), ...reason }
  }
  return Cause.hasInterruptsOnly(exit.cause)
    ? { is: "interrupted" }
    : { is: "died", message: Cause.pretty(exit.cause) }
}
