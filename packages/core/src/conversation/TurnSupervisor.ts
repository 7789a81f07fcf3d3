/**
 * The fibers that work for one conversation: one for its turn, one per deadline, and one per tool listing. Carries
 * out the actions of decisions and decides nothing: the outcome of a fiber enters the conversation's inbox, as what the
 * turn emits does (`InboxPort.ts`).
 *
 * ```
 *          StartTurn            the fiber ends by itself: `Ended`
 *   none ────────────▶ running ──────────────────────────────────▶ none
 *                        │                                           ▲
 *                        │ InterruptTurn      its fiber ends, or     │
 *                        └──────▶ stopping ─── `stopBound` passes: ──┘
 *                                                 `Ended`
 * ```
 *
 * Keeps L14: after an interrupt the conversation is notified of the turn's end within `stopBound`, whatever the fiber does. A
 * fiber that has not stopped by then is left behind: its events name a turn that is over and are dropped, and `close` waits
 * for it (L8).
 */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Action, TurnExit } from "../decider/Decision.ts"
import type { RunningTurn } from "../decider/State.ts"
import type { ModelClient } from "../ModelClient.ts"
import { ToolRuntime } from "../ToolRuntime.ts"
import * as Turn from "../turn/Turn.ts"
import type { TurnOptions } from "../turn/TurnPort.ts"
import { ApprovalWaiters } from "./ApprovalWaiters.ts"
import type { StartTurn } from "./EarlyStart.ts"
import type { Inbox } from "./Inbox.ts"
import { inboxPort, type TurnParts } from "./InboxPort.ts"
import type { Journal } from "./Journal.ts"
import { stopBound, turnExitOf } from "./TurnExits.ts"

/** The services that turns use: models and tools. */
type Services = Context.Context<ModelClient | ToolRuntime>

/** The parts of a conversation that a supervisor works with. */
export interface SupervisorParts {
  readonly inbox: Inbox
  readonly journal: Journal
  readonly services: Services
}

/** An action that starts, stops or resolves something; `Close` concerns the conversation alone. */
type SupervisedAction = Exclude<Action, { readonly _tag: "Close" }>

/** Number after which input needs a request of a turn that runs a command: input may have joined it already. */
const inputBefore = (turn: RunningTurn | undefined): number =>
  turn?.runsCommand === true ? turn.inputSeq : -1

/** Starts and stops the fibers of a conversation's turns and carries out the actions that were decided. */
export class TurnSupervisor {
  /** The tools of the conversation that wait for the answers to their questions. */
  readonly waiters: ApprovalWaiters
  private readonly conversationId: ConversationId
  private readonly parts: SupervisorParts & TurnParts
  private readonly scope = Scope.makeUnsafe()
  /** The turn that was started last, until its fiber ends. */
  private last: { readonly turn: TurnOptions; readonly fiber: Fiber.Fiber<unknown> } | undefined

  constructor(conversationId: ConversationId, { inbox, journal, services }: SupervisorParts) {
    this.conversationId = conversationId
    this.waiters = new ApprovalWaiters(this.scope, (input) => inbox.send({ input }))
    this.parts = { inbox, journal, services, waiters: this.waiters }
  }

  /** Carries out one action of a decision. Resolves at once: longer work runs in a fiber of the scope. */
  carryOut(action: SupervisedAction): Effect.Effect<void> {
    switch (action._tag) {
      case "StartTurn":
        return this.start(action)
      case "InterruptTurn":
        return this.interrupt()
      case "ResolveQuestion":
        return this.waiters.resolve(action.number, action.verdict)
      case "StartDeadline":
        return this.waiters.startDeadline(action.number, action.after)
      case "RestoreDeadline":
        return this.waiters.restoreDeadline(action.number, action.after)
      case "StartGrace":
        return this.waiters.startGrace(action.within)
      case "MoveDeadline":
        return Effect.sync(() => this.waiters.moveDeadline(action.from, action.to))
      case "ListTools":
        return this.listTools(action.id)
    }
  }

  /** Stops every fiber and waits for all of them, including those that were left behind. */
  close(): Effect.Effect<void> {
    return Scope.close(this.scope, Exit.void)
  }

  /** Starts a turn with the latest settings; `calls` are those that a restart interrupted and that run first. */
  private start({ calls, command, id: turnId }: StartTurn): Effect.Effect<void> {
    const { journal } = this.parts
    // The turn may be recorded only now.
    const { settings, turn: running } = journal.head
    const compacts = running?.compacts === true
    const turn: TurnOptions = {
      id: turnId,
      conversationId: this.conversationId,
      settings,
      compacts,
      ...(running?.review === "open" ? { reviews: true } : {}),
      ...defined({ calls }),
      ...(command === undefined ? {} : { command: { text: command, seq: inputBefore(running) } }),
      ...(calls === undefined && command === undefined && !compacts
        ? { first: journal.nextStep() }
        : {}),
    }
    return Turn.run(turn, inboxPort(turnId, this.parts)).pipe(
      // Not merged: a fiber that has them already keeps its context, which all conversations share.
      Effect.updateContext((_: Context.Context<never>) => this.parts.services),
      Effect.interruptible,
      // The fiber is not interruptible any more where it notifies the conversation. Nothing joins it.
      Effect.matchCauseEffect({
        onFailure: (cause) =>
          Effect.flatMap(turnExitOf(Exit.failCause(cause)), (end) => this.ended(turnId, end)),
        onSuccess: () => this.ended(turnId, { _tag: "Interrupted" }),
      }),
      // An interrupt that arrived before the fiber's first step would end it without a notification.
      Effect.forkIn(this.scope, { startImmediately: true, uninterruptible: true }),
      Effect.map((fiber) => {
        const last = { turn, fiber }
        this.last = last
        fiber.addObserver(() => {
          if (this.last === last) this.last = undefined
        })
      }),
    )
  }

  /**
   * Interrupts the turn that was started last and returns at once. Where its fiber has not ended within `stopBound`, the
   * conversation is notified as if it had; it may be notified a second time.
   */
  private interrupt(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.last === undefined) return Effect.void
      const { turn, fiber } = this.last
      fiber.interruptUnsafe()
      return Fiber.await(fiber).pipe(
        Effect.timeoutOrElse({
          duration: stopBound(turn.settings),
          orElse: () => this.ended(turn.id, { _tag: "Interrupted" }),
        }),
        Effect.forkIn(this.scope),
        Effect.asVoid,
      )
    })
  }

  /** Notifies the conversation that the turn's fiber has ended, unless no turn runs any more. */
  private ended(turnId: SubmissionId, exit: TurnExit): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      const { inbox, journal } = this.parts
      return journal.head.turn === undefined
        ? Effect.void
        : inbox.send({ input: { _tag: "Ended", turnId, exit } })
    })
  }

  /** Lists the tools of the tool servers with the current settings; returns at once, and `Listed` follows. */
  private listTools(id: SubmissionId): Effect.Effect<void> {
    const { inbox, journal, services } = this.parts
    const { listMcpTools } = Context.get(services, ToolRuntime)
    return Effect.suspend(() => listMcpTools(journal.current.settings)).pipe(
      Effect.interruptible,
      // The client gets a response in any case: one without tools after a defect.
      Effect.catchCause((cause) =>
        Effect.as(
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError("listing the tools failed with a defect", cause),
          {},
        ),
      ),
      Effect.flatMap((tools) => inbox.send({ input: { _tag: "Listed", id, tools } })),
      Effect.forkIn(this.scope, { startImmediately: true, uninterruptible: true }),
      Effect.asVoid,
    )
  }
}
