/**
 * One life of a conversation: its fiber, which owns a `Ref` of state, an event log and the listeners (`Journal.ts`).
 *
 * Everything that happens to it comes through one bounded inbox and is decided by `Decide.ts`; this file interprets
 * the decisions: what it takes from the inbox at once is decided, recorded as one batch, and only then told, answered
 * and carried out (L10). When it cannot be recorded nothing of it happens, and the conversation ends: its callers and its
 * listeners get the reason, its log is the truth, and the next use begins with that. It never waits for a listener (L6), numbers events without a
 * gap (L4), starts with `session_configured` (L3) and closes every turn with one terminal event, also when it is
 * closed itself (L5).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constVoid } from "effect/Function"
import * as Ref from "effect/Ref"
import { type Completion, completionOf, notifyCompleted } from "../decider/CompletedTurn.ts"
import {
  ConversationClosed,
  ConversationUnavailable,
  type SubmitError,
} from "../ConversationErrors.ts"
import type { Conversation, ConversationOptions, OwnedConversation } from "./ConversationHandle.ts"
import type { State } from "../decider/State.ts"
import { decide } from "../decider/Decide.ts"
import { type Action, type Decision, followedBy, nothing } from "../decider/Decision.ts"
import { answersOf } from "../approvals/Elicitation.ts"
import { durabilityOf } from "../decider/LogRecords.ts"
import type { Receipt } from "../decider/Receipts.ts"
import type { Unfinished } from "../recovery/LogFold.ts"
import { answer, type Command, type Inbox, refuse } from "./Inbox.ts"
import type { Journal } from "./Journal.ts"
import { withLocalImages } from "./LocalImages.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import { recoverTurn } from "../recovery/RecoverTurn.ts"
import type { AppendError } from "../StoreErrors.ts"
import { stopBound } from "./TurnRunner.ts"
import { type Services, TurnSupervisor } from "./TurnSupervisor.ts"

const shutDown: Command = {
  input: { _tag: "Submit", id: undefined, op: { type: "shutdown" }, whileRunning: "reject" },
}

/** A command that was decided; nobody knows of it before it is recorded. */
interface Decided {
  /** Absent of what nobody asked for. */
  readonly command?: Command
  readonly decision: Decision
  /** Of the turn that it completes, for the observer of turns. */
  readonly completion?: Completion
}

/** One life of a conversation. A class: its methods are shared, closures would cost every idle conversation anew. */
export class ConversationActor implements OwnedConversation {
  readonly id: ConversationId
  private readonly journal: Journal
  private readonly inbox: Inbox
  private readonly options: ConversationOptions
  private readonly services: Services
  /** Made when it is needed: most conversations lie idle. */
  private made: TurnSupervisor | undefined
  /** True once the last command was decided. */
  private over = false
  /** Why nothing can be recorded any more. */
  private lost: ConversationUnavailable | undefined

  constructor(
    id: ConversationId,
    options: ConversationOptions,
    parts: { readonly inbox: Inbox; readonly journal: Journal; readonly services: Services },
  ) {
    this.id = id
    this.options = options
    this.inbox = parts.inbox
    this.journal = parts.journal
    this.services = parts.services
    options.permits?.resume(this.journal.now)
  }

  get state(): Effect.Effect<State> {
    return Ref.get(this.journal.state)
  }

  get events(): Effect.Effect<ReadonlyArray<Event>> {
    return Effect.sync(() => this.journal.log.slice(0, this.journal.log.seq))
  }

  /** True once nothing more is decided. */
  get isOver(): boolean {
    return this.over
  }

  get loaded(): Conversation["loaded"] {
    return Effect.suspend(() => (this.over ? Effect.fail(new ConversationClosed()) : Effect.void))
  }

  get suspend(): OwnedConversation["suspend"] {
    return Effect.flatMap(Deferred.make<boolean>(), (suspend) =>
      Effect.flatMap(this.inbox.send({ suspend }), (taken) =>
        taken ? Deferred.await(suspend) : Effect.succeed(false),
      ),
    )
  }

  submit(...[op, options]: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    return Effect.flatMap(
      Effect.flatMap(withLocalImages(op, this.journal, this.services), (shown) =>
        this.inbox.ask({
          _tag: "Submit",
          id: options?.id,
          op: shown,
          whileRunning: options?.whileRunning ?? "queue",
          ...(options?.because === undefined ? {} : { because: options.because }),
        }),
      ),
      (answer): Effect.Effect<Receipt, SubmitError> => {
        if (answer._tag === "Closed") {
          return Effect.fail(answer.because ?? this.lost ?? new ConversationClosed())
        }
        const { receipt, refused } = answer.decision
        return receipt === undefined
          ? Effect.fail(refused ?? new ConversationClosed())
          : Effect.succeed(receipt)
      },
    )
  }

  cancel(id: SubmissionId): Effect.Effect<void> {
    return Effect.asVoid(this.inbox.ask({ _tag: "Cancel", id }))
  }

  attach(...[options]: Parameters<Conversation["attach"]>): ReturnType<Conversation["attach"]> {
    const listening = this.journal.listeners.attach(options)
    const answers = answersOf(options?.answers)
    if (answers === undefined) return listening
    const attend = (by: 1 | -1) =>
      this.inbox.send({ input: { _tag: "ListenersChanged", by, answers } })
    return Effect.tap(listening, () => Effect.acquireRelease(attend(1), () => attend(-1)))
  }

  /** Deals with what an earlier life left open, before anything else. When that fails this life is over. */
  begin(
    left: Unfinished,
    repairs: ReadonlyArray<string> = [],
  ): Effect.Effect<void, ConversationUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const { head } = this.journal
      const decision = followedBy(warnings(head, repairs), (state) =>
        recoverTurn(state, left, nowMs),
      )
      this.journal.stage(undefined, decision, nowMs)
      if (head.turn === undefined) this.options.permits?.resume(this.journal.head)
      else this.options.permits?.settle(head, this.journal.head)
      yield* this.carryOut([{ decision }])
      if (this.lost === undefined) return
      yield* this.close()
      return yield* this.lost
    })
  }

  /** What its fiber runs. */
  get life(): Effect.Effect<void, Cause.Done> {
    return Effect.onExit(this.loop(), (exit) => {
      const interrupted = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      const last: Effect.Effect<void, Cause.Done> = interrupted ? this.shutDownNow() : exit
      return last.pipe(
        Effect.tapDefect((defect) => Effect.logError("a conversation died", defect)),
        Effect.ensuring(this.close()),
      )
    })
  }

  private get workshop(): TurnSupervisor {
    return (this.made ??= new TurnSupervisor(this.inbox, this.journal, this.services))
  }

  /** Decides one command and stages what follows. */
  private decide(command: Command, unread: number, nowMs: number): Decided {
    const { journal } = this
    const before = journal.head
    if ("suspend" in command) {
      const { listings = [], turn, waiting } = before
      this.over =
        turn === undefined &&
        listings.length + waiting.length + journal.listeners.size + unread === 0
      return { command, decision: { state: before, events: [], actions: [], proceed: this.over } }
    }
    const { permits } = this.options
    const decided = decide(before, command.input)
    const decision = permits?.admit(before, decided) ?? decided
    journal.stage(command.input, decision, nowMs)
    permits?.settle(before, journal.head)
    // What comes behind the last word is refused.
    if (decision.actions.some(({ _tag }) => _tag === "Close")) this.over = true
    const completion = completionOf(before, command.input, decision)
    return { command, decision, ...(completion === undefined ? {} : { completion }) }
  }

  /** Whoever waits for the answer goes on at once. */
  private answer({ command, decision }: Decided): void {
    if (command === undefined) return
    if ("suspend" in command) return answer(command.suspend, decision.proceed === true)
    if (command.reply === undefined) return
    const { log, now } = this.journal
    const step =
      decision.proceed === true && command.input._tag === "Advance"
        ? {
            step: {
              history: log.history(),
              seq: log.seq - 1,
              usage: now.usage,
              tokens: log.tokens(),
            },
          }
        : {}
    answer(command.reply, { _tag: "Decision", decision, ...step })
  }

  private act(action: Action): Effect.Effect<void> {
    if (action._tag === "Close") return Effect.void
    const { workshop } = this
    switch (action._tag) {
      case "StartTurn":
        return workshop.start(this.id, action.id, action.calls)
      case "InterruptTurn":
        return workshop.runner.interrupt()
      case "ResolveQuestion":
        return workshop.desk.settle(action.number, action.verdict)
      case "StartDeadline":
        return workshop.desk.startDeadline(action.number, action.after)
      case "RestoreDeadline":
        return workshop.desk.keepDeadline(action.number, action.after)
      case "StartGrace":
        return workshop.desk.expect(action.within)
      case "MoveDeadline":
        workshop.desk.moveDeadline(action.from, action.to)
        return Effect.void
      case "ListTools":
        return workshop.list(action.id)
    }
  }

  /** Records what was staged; false, and nothing of it happened, when it cannot be recorded. */
  private record(): Effect.Effect<boolean> {
    const { journal, options } = this
    const { records } = journal
    const { writer } = options
    if (writer === undefined || records.length === 0) return Effect.succeed(true)
    return Effect.matchEffect(
      withinStoreTimeout("append", writer.append(records, durabilityOf(records))),
      {
        onSuccess: () => Effect.succeed(true),
        onFailure: (error) => this.lose(error),
      },
    )
  }

  /** Nothing can be recorded any more: this life is over, and the log is the truth. */
  private lose(because: AppendError): Effect.Effect<boolean> {
    this.lost = new ConversationUnavailable({ id: this.id, reason: because.message, because })
    this.over = true
    this.journal.drop()
    return Effect.as(
      Effect.logError(`conversation ${this.id} is unloaded: nothing can be recorded`, because),
      false,
    )
  }

  /** Records what these decided, tells it, answers and acts; or none of it. */
  private carryOut(all: ReadonlyArray<Decided>): Effect.Effect<void> {
    return Effect.flatMap(this.record(), (recorded) => {
      if (!recorded) {
        for (const { command } of all) if (command !== undefined) refuse(command, this.lost)
        return Effect.void
      }
      this.journal.commit()
      return this.tell(all)
    })
  }

  private tell(all: ReadonlyArray<Decided>): Effect.Effect<void> {
    const acting: Array<Action> = []
    const completions: Array<Completion> = []
    for (const decided of all) {
      this.answer(decided)
      // A hundred thousand deltas are no reason for as many effects.
      for (const action of decided.decision.actions) acting.push(action)
      if (decided.completion !== undefined) completions.push(decided.completion)
    }
    if (acting.length + completions.length === 0) return Effect.void
    return Effect.andThen(
      Effect.forEach(acting, (action) => this.act(action), { discard: true }),
      Effect.forEach(completions, (one) => this.observe(one), { discard: true }),
    )
  }

  private observe(completion: Completion): Effect.Effect<void> {
    const { onTurnCompleted } = this.options
    return onTurnCompleted === undefined
      ? Effect.void
      : notifyCompleted(onTurnCompleted, this.id, completion, this.journal.log.all())
  }

  /** Carries out these commands as one batch. */
  private work(commands: ReadonlyArray<Command>): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const all: Array<Decided> = []
      let left = commands.length
      for (const command of commands) {
        left--
        if (this.over) refuse(command, this.lost)
        else all.push(this.decide(command, left + this.inbox.size, nowMs))
      }
      return all.length === 0 ? Effect.void : this.carryOut(all)
    }).pipe(Effect.uninterruptible)
  }

  /** Only the wait can be interrupted: what was taken is carried out, or its reply would never come. */
  private loop(): Effect.Effect<void, Cause.Done> {
    return Effect.whileLoop({
      while: () => !this.over,
      body: () => Effect.flatMap(Effect.interruptible(this.inbox.filled), () => this.round()),
      step: constVoid,
    }).pipe(Effect.uninterruptible)
  }

  private round(): Effect.Effect<void, Cause.Done> {
    return Effect.flatMap(this.inbox.takeAll, (commands) =>
      Effect.andThen(
        this.work(commands),
        Effect.suspend(() => this.giveWay()),
      ),
    )
  }

  /** A turn that never pauses would keep its listeners, and everyone else, from running. */
  private giveWay(): Effect.Effect<void> {
    return this.inbox.size === 0 ? Effect.void : Effect.yieldNow
  }

  /** The scope closes: the same shutdown as by op, within its bound. */
  private shutDownNow(): Effect.Effect<void, Cause.Done> {
    return Effect.andThen(this.work([shutDown]), this.loop()).pipe(
      Effect.timeoutOption(stopBound(this.journal.now.settings)),
      // A turn that does not stop in time is told of as if it had; its fiber is still waited for in `close`.
      Effect.andThen(Effect.suspend(() => this.giveUpTurn())),
    )
  }

  private giveUpTurn(): Effect.Effect<void> {
    const { turn } = this.journal.now
    return turn === undefined
      ? Effect.void
      : this.work([{ input: { _tag: "Ended", turnId: turn.id, exit: { _tag: "Interrupted" } } }])
  }

  private close(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { lost } = this
      yield* this.inbox.end(lost)
      yield* this.made?.desk.close() ?? Effect.void
      this.journal.end(lost)
      yield* this.made?.close() ?? Effect.void
      this.options.permits?.settle(this.journal.head, { turn: undefined })
      yield* (
        this.options.onClose?.(
          lost === undefined ? { _tag: "Ended" } : { _tag: "Lost", because: lost },
        ) ?? Effect.void
      )
    })
  }
}

/** What was put right of its log. */
const warnings = (state: State, repairs: ReadonlyArray<string>): Decision => ({
  ...nothing(state),
  events: repairs.map((message) => ({ id: "", msg: { type: "warning", message } })),
})
