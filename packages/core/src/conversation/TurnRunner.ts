/**
 * The fibers of a conversation's turns: starts one at a time, stops it, and gives it up when it does not stop.
 *
 * Keeps L14: after `interrupt` the conversation hears of the turn's end within its bound, whatever the fiber does; a
 * fiber left behind is heard no more, since its events name a turn that is over, and ends with the scope (L8).
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { TurnExit } from "../decider/Decision.ts"
import type { ModelClient } from "../ModelClient.ts"
import type { ToolRuntime } from "../ToolRuntime.ts"
import * as Turn from "../turn/Turn.ts"
import type { TurnOptions, TurnPort } from "../turn/TurnPort.ts"

/** L14: the terminal event comes within one second plus the kill grace. */
const stopTime = Duration.seconds(1)

/** Time between asking a process to end and killing it, where the settings name none: enough to write a file. */
const defaultKillGrace = Duration.millis(500)

/** The longest time from an interrupt to the terminal event. */
export const stopBound = (settings: ConversationSettings): Duration.Duration =>
  Duration.sum(stopTime, settings.killGrace ?? defaultKillGrace)

const turnExit = (exit: Exit.Exit<void, { readonly message: string }>): Effect.Effect<TurnExit> => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) {
    return Effect.succeed({ _tag: "Interrupted" })
  }
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) {
    return Effect.succeed({ _tag: "Failed", message: failure.error.message })
  }
  return Effect.as(Effect.logError("a turn died", exit.cause), {
    _tag: "Failed",
    message: "internal error; the turn died unexpectedly",
  })
}

/** Tells the conversation that a turn's fiber is gone, or given up. */
type OnEnd = (turnId: SubmissionId, exit: TurnExit) => Effect.Effect<unknown>

export class TurnRunner {
  private running: { readonly turn: TurnOptions; readonly fiber: Fiber.Fiber<void> } | undefined
  private readonly services: Context.Context<ModelClient | ToolRuntime>
  private readonly scope: Scope.Scope
  private readonly onEnd: OnEnd

  /** `scope` holds the fibers; closing it waits for all of them, also those left behind. */
  constructor(
    services: Context.Context<ModelClient | ToolRuntime>,
    scope: Scope.Scope,
    onEnd: OnEnd,
  ) {
    this.services = services
    this.scope = scope
    this.onEnd = onEnd
  }

  /** Starts a turn; `onEnd` is told once it is over by itself or by `interrupt`. */
  start(turn: TurnOptions, port: TurnPort): Effect.Effect<void> {
    return Turn.run(turn, port).pipe(
      // Not merged: a fiber that has them already keeps its context, which all conversations share.
      Effect.updateContext((_: Context.Context<never>) => this.services),
      Effect.interruptible,
      Effect.onExit((exit) => Effect.flatMap(turnExit(exit), (end) => this.onEnd(turn.id, end))),
      // The conversation has been told; nobody joins the fiber.
      Effect.exit,
      Effect.asVoid,
      // An interrupt that came before the fiber got here would end it without a word.
      Effect.forkIn(this.scope, { startImmediately: true, uninterruptible: true }),
      Effect.map((fiber) => {
        this.running = { turn, fiber }
      }),
    )
  }

  /**
   * Stops the turn that was started last and returns at once. When its fiber is not gone within `stopBound`, `onEnd`
   * is told as if it were; it may be told again.
   */
  interrupt(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.running === undefined) return Effect.void
      const { turn, fiber } = this.running
      fiber.interruptUnsafe()
      return Fiber.await(fiber).pipe(
        Effect.timeoutOrElse({
          duration: stopBound(turn.settings),
          orElse: () => this.onEnd(turn.id, { _tag: "Interrupted" }),
        }),
        Effect.forkIn(this.scope),
        Effect.asVoid,
      )
    })
  }
}
