/** How an operation came back, as the trace tells it. Pure. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { Answer } from "./Trace.ts"

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
