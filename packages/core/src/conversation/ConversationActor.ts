/**
 * The fiber of a loaded conversation, which owns its `Ref` of state, its event log and its listeners (`Journal.ts`).
 *
 * ```
 *             recover            inbox: decide, record, commit, act
 *   created ──────────▶ running ────────────────────────────────────┐
 *      │                  │  ▲                                       │
 *      │                  │  └───────────────────────────────────────┘
 *      │                  ├─ op `shutdown`, scope closed ──▶ shutting down ── last event ──┐
 *      │                  ├─ `suspend` while idle ─────────────────────────────────────────┼─▶ closed
 *      └──────────────────┴─ a record cannot be written (`lost`) ──────────────────────────┘
 * ```
 *
 * Everything that happens to the conversation enters one bounded inbox and is decided by `decide`, which is pure; this
 * class carries out the decisions. The commands that it takes from the inbox together are decided, recorded as one batch,
 * and only then committed, replied to and acted on (L10). When they cannot be recorded none of them has an effect, and the
 * fiber ends: its callers and listeners get the reason, and the next use of the conversation starts from the log.
 *
 * It never waits for a listener (L6), numbers events without a gap (L4), starts with `session_configured` (L3), and ends
 * every turn with one terminal event, also when it is closed during the turn (L5).
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
import { ConversationClosed, ConversationUnavailable } from "../ConversationErrors.ts"
import type { Conversation, ConversationOptions, OwnedConversation } from "./ConversationHandle.ts"
import { isIdle, type State } from "../decider/State.ts"
import { decide } from "../decider/Decide.ts"
import { type Action, followedBy, nothing } from "../decider/Decision.ts"
import { attachedEvents } from "../listeners/Listener.ts"
import { runTurn } from "../listeners/TurnRun.ts"
import { durabilityOf } from "../decider/LogRecords.ts"
import type { Unfinished } from "../recovery/LogFold.ts"
import { attachTo } from "./Attachment.ts"
import { earlyStart, type StartTurn } from "./EarlyStart.ts"
import { type Decided, receiptOf, replyTo } from "./Decided.ts"
import { type Command, type Inbox, refuse } from "./Inbox.ts"
import { inOrder, meanwhile } from "./InOrder.ts"
import { ask, loadOf, observeSubmission } from "./Observation.ts"
import type { Journal } from "./Journal.ts"
import { withLocalImages } from "./LocalImages.ts"
import { AppendCalls } from "../store/AppendCalls.ts"
import { recoverTurn } from "../recovery/RecoverTurn.ts"
import { repairWarnings } from "../recovery/RepairWarnings.ts"
import type { LogWriter } from "../ConversationStore.ts"
import type { AppendError } from "../StoreErrors.ts"
import { logLoss } from "../store/RevocableLog.ts"
import { stopBound } from "./TurnExits.ts"
import { type SupervisorParts, TurnSupervisor } from "./TurnSupervisor.ts"

/** The op `shutdown`, as a client would submit it. */
const shutDown: Command = {
  input: { _tag: "Submit", id: undefined, op: { type: "shutdown" }, whileRunning: "reject" },
}

/** One loaded conversation. A class: its methods are shared, where closures would cost every idle conversation memory. */
export class ConversationActor implements OwnedConversation {
  readonly id: ConversationId
  private readonly journal: Journal
  private readonly inbox: Inbox
  private readonly options: ConversationOptions
  private readonly services: SupervisorParts["services"]
  /** Limits the time of appends; created by the first one, where none is shared. */
  private appends: AppendCalls | undefined
  /** Created by the first action: most conversations are idle. */
  private started: TurnSupervisor | undefined
  /** The action that started the last turn while it was recorded. */
  private startedEarly: StartTurn | undefined
  /** True once the last command was decided. */
  private over = false
  /** Why nothing can be recorded any more. */
  private lost: ConversationUnavailable | undefined

  constructor(id: ConversationId, options: ConversationOptions, parts: SupervisorParts) {
    this.id = id
    this.options = options
    this.inbox = parts.inbox
    this.journal = parts.journal
    this.services = parts.services
    this.appends = options.appends
    options.permits?.resume(this.journal.current)
  }

  get state(): Effect.Effect<State> {
    return Ref.get(this.journal.state)
  }

  events(options?: Parameters<Conversation["events"]>[0]): ReturnType<Conversation["events"]> {
    return attachedEvents(this, options)
  }

  get durableEvents(): Effect.Effect<ReadonlyArray<Event>> {
    return Effect.sync(() => this.journal.log.slice(0, this.journal.log.seq))
  }

  timeOf(seq: number): number {
    return this.journal.log.timeOf(seq)
  }

  get isOver(): boolean {
    return this.over
  }

  get isBusy(): boolean {
    const { head, listeners } = this.journal
    return this.inbox.size === 0 && (listeners.size > 0 || !isIdle(head))
  }

  get load(): OwnedConversation["load"] {
    return loadOf(this.journal, this.inbox)
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
        ask(this.inbox, this.options.observer, {
          _tag: "Submit",
          id: options?.id,
          op: shown,
          whileRunning: options?.whileRunning ?? "queue",
          ...(options?.because === undefined ? {} : { because: options.because }),
        }),
      ),
      (answer) => receiptOf(answer, this.lost),
    )
  }

  runTurn(
    ...[op, options]: Parameters<Conversation["runTurn"]>
  ): ReturnType<Conversation["runTurn"]> {
    return runTurn(this, this.submit(op, options), options?.id)
  }

  cancel(id: SubmissionId): Effect.Effect<void> {
    return Effect.asVoid(this.inbox.ask({ _tag: "Cancel", id }))
  }

  attach(...[options]: Parameters<Conversation["attach"]>): ReturnType<Conversation["attach"]> {
    return attachTo(this.journal.listeners, this.inbox, options)
  }

  /**
   * Deals with what the previous process left unfinished in the log, before anything else. When that cannot be recorded
   * the conversation is closed, and this fails.
   */
  recover(
    left: Unfinished,
    repairs: ReadonlyArray<string> = [],
  ): Effect.Effect<void, ConversationUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const { head } = this.journal
      const decision = followedBy(repairWarnings(head, repairs), (state) =>
        recoverTurn(state, left, nowMs),
      )
      this.journal.stage(undefined, decision, nowMs)
      if (head.turn === undefined) this.options.permits?.resume(this.journal.head)
      else this.options.permits?.release(head, this.journal.head)
      yield* this.carryOut([{ decision }])
      if (this.lost === undefined) return
      yield* this.close()
      return yield* this.lost
    })
  }

  /** Serves the inbox until the conversation is closed. When interrupted, shuts it down within its bound. */
  get run(): Effect.Effect<void, Cause.Done> {
    return Effect.onExit(this.loop(), (exit) => {
      const interrupted = Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      const last: Effect.Effect<void, Cause.Done> = interrupted ? this.shutDownNow() : exit
      return last.pipe(
        Effect.tapDefect((defect) =>
          Effect.logError("conversation fiber failed with a defect", defect),
        ),
        Effect.ensuring(this.close()),
      )
    })
  }

  private get supervisor(): TurnSupervisor {
    const { inbox, journal, services } = this
    return (this.started ??= new TurnSupervisor(this.id, { inbox, journal, services }))
  }

  /** Decides one command and stages the decision. `unread`: commands that follow it. */
  private decide(command: Command, unread: number, nowMs: number): Decided {
    const { journal } = this
    const before = journal.head
    if ("suspend" in command) {
      this.over = isIdle(before) && journal.listeners.size + unread === 0
      return { command, decision: { ...nothing(before), proceed: this.over } }
    }
    const { observer, permits } = this.options
    const decided = decide(before, journal.informed(command.input))
    const decision = permits?.admit(before, decided) ?? decided
    journal.stage(command.input, decision, nowMs)
    permits?.release(before, journal.head)
    if (observer !== undefined) observeSubmission(observer, this.id, command, decision)
    // The commands that follow the last one are refused.
    if (decision.actions.some(({ _tag }) => _tag === "Close")) this.over = true
    const completion = completionOf(before, command.input, decision)
    return { command, decision, ...(completion === undefined ? {} : { completion }) }
  }

  private act(action: Action): Effect.Effect<void> {
    return action._tag === "Close" ? Effect.void : this.supervisor.carryOut(action)
  }

  /**
   * Records what is staged by these decisions. Returns false when that fails: nothing staged takes effect and the
   * conversation closes.
   */
  private record(all: ReadonlyArray<Decided>): Effect.Effect<boolean> {
    const { journal, options } = this
    const { records } = journal
    const { writer } = options
    if (writer === undefined || records.length === 0) return Effect.succeed(true)
    return Effect.matchEffect(
      (this.appends ??= new AppendCalls()).run(
        writer.append(records, durabilityOf(records)),
        this.startEarly(all),
      ),
      {
        onSuccess: () => Effect.succeed(true),
        onFailure: (error) => this.lose(writer, error),
      },
    )
  }

  /** Starts the turn of these decisions while they are recorded. When that fails, `close` interrupts it. */
  private startEarly(all: ReadonlyArray<Decided>): Effect.Effect<void> | undefined {
    const start = earlyStart(this.journal.current, this.journal.head, all)
    if (start === undefined) return undefined
    return Effect.suspend(() => {
      this.startedEarly = start
      return this.act(start)
    })
  }

  /** Closes the conversation because nothing can be recorded any more. Its next use loads what was recorded. */
  private lose(writer: LogWriter, because: AppendError): Effect.Effect<boolean> {
    this.lost = new ConversationUnavailable({ id: this.id, reason: because.message, because })
    this.over = true
    this.journal.discard()
    return Effect.as(logLoss(this.id, writer, because), false)
  }

  /** Records these decisions, commits them, replies and acts. Does none of this when they cannot be recorded. */
  private carryOut(all: ReadonlyArray<Decided>): Effect.Effect<void> {
    // Only attached listeners and the like changed: what the conversation begins with is recorded with its first submission.
    const settling = this.options.permits?.settle?.()
    if (this.journal.isHolding) {
      return settling === undefined
        ? this.replyAndAct(all)
        : Effect.flatMap(settling, () => this.replyAndAct(all))
    }
    return Effect.flatMap(meanwhile(this.record(all), settling), (recorded) => {
      if (!recorded) {
        for (const { command } of all) if (command !== undefined) refuse(command, this.lost)
        return Effect.void
      }
      const events = this.journal.commit()
      this.options.observer?.committed(this.id, events, this.journal.current.settings)
      return this.replyAndAct(all)
    })
  }

  private replyAndAct(all: ReadonlyArray<Decided>): Effect.Effect<void> {
    const acting: Array<Action> = []
    const completions: Array<Completion> = []
    for (const decided of all) {
      replyTo(decided, this.journal)
      // Collected first: a batch of a hundred thousand deltas needs no effect per delta.
      for (const action of decided.decision.actions) {
        if (action !== this.startedEarly) acting.push(action)
      }
      if (decided.completion !== undefined) completions.push(decided.completion)
    }
    const actions = inOrder(acting, (action) => this.act(action))
    const { onTurnCompleted } = this.options
    if (completions.length === 0 || onTurnCompleted === undefined) return actions
    const observe = (completion: Completion) =>
      notifyCompleted(onTurnCompleted, this.id, completion, this.journal.log.all())
    return Effect.andThen(actions, inOrder(completions, observe))
  }

  /** Carries out these commands as one batch. Not to be interrupted. */
  private work(commands: ReadonlyArray<Command>): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      const nowMs = clock.currentTimeMillisUnsafe()
      const all: Array<Decided> = []
      /** Decides on the commands from this one on. A turn may have to wait until other processes were asked for a permit. */
      const decideFrom = (start: number): Effect.Effect<void> => {
        let unread = commands.length - start
        for (const command of start === 0 ? commands : commands.slice(start)) {
          const permitted = this.over ? undefined : this.permitted(command)
          if (permitted !== undefined) {
            const next = commands.length - unread
            return Effect.flatMap(permitted, () => decideFrom(next))
          }
          unread--
          if (this.over) refuse(command, this.lost)
          else all.push(this.decide(command, unread + this.inbox.size, nowMs))
        }
        return all.length === 0 ? Effect.void : this.carryOut(all)
      }
      return decideFrom(0)
    })
  }

  /** What the decision on the command has to wait for; undefined if for nothing. */
  private permitted(command: Command): Effect.Effect<void> | undefined {
    const { head } = this.journal
    if ("suspend" in command) return undefined
    return this.options.permits?.prepare?.(head, () =>
      decide(head, this.journal.informed(command.input)),
    )
  }

  /** Only the wait can be interrupted: the commands that were taken are carried out, or their callers would wait forever. */
  private loop(): Effect.Effect<void, Cause.Done> {
    return Effect.whileLoop({
      while: () => !this.over,
      body: () =>
        Effect.flatMap(this.nextCommand(), () =>
          this.inbox.serve((commands) => this.work(commands)),
        ),
      step: constVoid,
    }).pipe(Effect.uninterruptible)
  }

  /**
   * Resolves when the inbox holds a command. Lets other fibers run where it holds one already: a turn that never pauses
   * would keep its listeners, and all others, from running.
   */
  private nextCommand(): Effect.Effect<unknown, Cause.Done> {
    const waiting = Effect.interruptible(this.inbox.awaitCommand)
    return this.inbox.size === 0 ? waiting : Effect.andThen(Effect.yieldNow, waiting)
  }

  /** Shuts down as the op `shutdown` does, within the bound of a turn's end: the scope of the conversation closes. */
  private shutDownNow(): Effect.Effect<void, Cause.Done> {
    return Effect.andThen(Effect.uninterruptible(this.work([shutDown])), this.loop()).pipe(
      Effect.timeoutOption(stopBound(this.journal.current.settings)),
      // A turn that does not stop in time gets its terminal event all the same; `close` still waits for its fiber.
      Effect.andThen(Effect.suspend(() => this.endTurn())),
    )
  }

  private endTurn(): Effect.Effect<void> {
    const { turn } = this.journal.current
    return turn === undefined
      ? Effect.void
      : Effect.uninterruptible(
          this.work([{ input: { _tag: "Ended", turnId: turn.id, exit: { _tag: "Interrupted" } } }]),
        )
  }

  private close(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { lost } = this
      yield* this.inbox.end(lost)
      yield* this.started?.waiters.close() ?? Effect.void
      this.journal.end(lost)
      yield* this.started?.close() ?? Effect.void
      this.options.permits?.release(this.journal.head, { turn: undefined })
      yield* this.options.permits?.settle?.() ?? Effect.void
      this.options.observer?.closed(this.id)
      yield* (
        this.options.onClose?.(
          lost === undefined ? { _tag: "Ended" } : { _tag: "Lost", because: lost },
        ) ?? Effect.void
      )
    })
  }
}
