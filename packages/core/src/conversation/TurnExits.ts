/** How the fiber of a turn ends, and how long it may take to stop. Pure, except that it logs a defect. */
import { defined } from "@colloquy/protocol/Defined"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { TurnExit } from "../decider/Decision.ts"

/** L14: the terminal event follows an interrupt within one second plus the kill grace. */
const stopTime = Duration.seconds(1)

/** Time between asking a process to end and killing it, where the settings name none: enough to write a file. */
const defaultKillGrace = Duration.millis(500)

/** The longest time from an interrupt to the terminal event of the turn. */
export const stopBound = (settings: ConversationSettings): Duration.Duration =>
  Duration.sum(stopTime, settings.killGrace ?? defaultKillGrace)

/** Input of `decide` for the exit of a turn's fiber. Logs a defect with its cause, whose text no client receives. */
export const turnExitOf = (
  exit: Exit.Exit<void, Omit<Extract<TurnExit, { readonly _tag: "Failed" }>, "_tag">>,
): Effect.Effect<TurnExit> => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) {
    return Effect.succeed({ _tag: "Interrupted" })
  }
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) {
    const { message, refusedImages } = failure.error
    return Effect.succeed({ _tag: "Failed", message, ...defined({ refusedImages }) })
  }
  return Effect.as(Effect.logError("turn fiber failed with a defect", exit.cause), {
    _tag: "Failed",
    message: "internal error; the turn died unexpectedly",
  })
}
