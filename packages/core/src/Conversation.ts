/**
 * A conversation: one fiber that owns a `Ref` of state, an event log and the listeners it tells (design §4,
 * `Journal.ts`).
 *
 * Everything that happens to it comes through one bounded inbox and is decided by `Decide.ts`; this file interprets
 * the decisions. It never waits for a listener (L6), numbers events without a gap (L4), starts with
 * `session_configured` (L3) and closes every turn with one terminal event, also when it is closed itself (L5).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constVoid } from "effect/Function"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { ConversationClosed, type SubmitError } from "./ConversationErrors.ts"
import type { Conversation, ConversationOptions, OwnedConversation } from "./ConversationHandle.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { State } from "./ConversationState.ts"
import { decide } from "./Decide.ts"
import type { Action, Decision, Receipt } from "./Decision.ts"
import { answer, type Command, Inbox, refuse } from "./Inbox.ts"
import { Journal } from "./Journal.ts"
import type { ModelClient } from "./ModelClient.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"
import type * as Turn from "./Turn.ts"
import { stopBound } from "./TurnRunner.ts"
import { type Services, Workshop } from "./Workshop.ts"

export type { Conversation, OwnedConversation } from "./ConversationHandle.ts"

const shutDown: Command = {
  input: { _tag: "Submit", id: undefined, op: { type: "shutdown" }, whileRunning: "reject" },
}

/** One life of a conversation. A class: its methods are shared, closures would cost every idle conversation anew. */
class Live implements OwnedConversation {
  readonly id: ConversationId
  private readonly journal: Journal
  private readonly inbox: Inbox
  private readonly options: ConversationOptions
  private readonly services: Services
  /** Made when it is needed: most conversations lie idle. */
  private made: Workshop | undefined
  /** True once the last command was carried out. */
  private over = false

  constructor(
    id: ConversationId,
    settings: ConversationSettings,
    options: ConversationOptions,
    parts: { readonly inbox: Inbox; readonly services: Services },
  ) {
    this.id = id
    this.options = options
    this.inbox = parts.inbox
    this.services = parts.services
    this.journal = new Journal(id, settings, options)
  }

  get state(): Effect.Effect<State> {
    return Ref.get(this.journal.state)
  }

  get events(): Effect.Effect<ReadonlyArray<Event>> {
    return Effect.sync(() => this.journal.log.slice(0, this.journal.log.seq))
  }

  get suspend(): OwnedConversation["suspend"] {
    return Effect.flatMap(Deferred.make<ReadonlyArray<Event> | undefined>(), (suspend) =>
      Effect.flatMap(this.inbox.send({ suspend }), (taken) =>
        taken ? Deferred.await(suspend) : Effect.undefined,
      ),
    )
  }

  submit(...[op, options]: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    return Effect.flatMap(
      this.inbox.ask({
        _tag: "Submit",
        id: options?.id,
        op,
        whileRunning: options?.whileRunning ?? "queue",
        ...(options?.because === undefined ? {} : { because: options.because }),
      }),
      (answer): Effect.Effect<Receipt, SubmitError> => {
        if (answer._tag === "Closed") return Effect.fail(new ConversationClosed())
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
    return options?.answers === true
      ? Effect.tap(listening, () =>
          Effect.acquireRelease(this.inbox.send({ input: { _tag: "Attend", by: 1 } }), () =>
            this.inbox.send({ input: { _tag: "Attend", by: -1 } }),
          ),
        )
      : listening
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

  private get workshop(): Workshop {
    return (this.made ??= new Workshop(this.inbox, this.journal, this.services))
  }

  /** Whoever waits for the answer goes on at once: what was recorded is published before. */
  private answer<A>(reply: Deferred.Deferred<A>, value: A): void {
    this.journal.publish()
    answer(reply, value)
  }

  /** Carries out one command, all but the actions that it gives back. */
  private interpret(command: Command, unread: number): Decision["actions"] {
    const { journal } = this
    const { listeners, log } = journal
    const before = journal.now
    if ("suspend" in command) {
      const { listings = [], turn, waiting } = before
      this.over =
        turn === undefined && listings.length + waiting.length + listeners.size + unread === 0
      this.answer(command.suspend, this.over ? log.all() : undefined)
      return []
    }
    const { permits } = this.options
    const decided = decide(before, command.input)
    const decision = permits?.admit(before, decided) ?? decided
    journal.record(decision.state, decision.events)
    const after = journal.now
    permits?.settle(before, after)
    if (command.reply !== undefined) {
      const step: Turn.Step | undefined =
        decision.goOn === true
          ? {
              history: log.history(),
              seq: log.seq - 1,
              usage: after.usage,
              tokens: log.tokens(),
            }
          : undefined
      this.answer(command.reply, {
        _tag: "Decision",
        decision,
        ...(step === undefined ? {} : { step }),
      })
    }
    return decision.actions
  }

  private act(action: Action): Effect.Effect<void> {
    switch (action._tag) {
      case "StartTurn":
        return this.workshop.start(this.id, action.id)
      case "InterruptTurn":
        return this.workshop.runner.interrupt()
      case "Settle":
        return this.workshop.desk.settle(action.number, action.verdict)
      case "StartDeadline":
        return this.workshop.desk.startDeadline(action.number, action.after)
      case "ListTools":
        return this.workshop.list(action.id)
      case "Close":
        this.over = true
        return Effect.void
    }
  }

  /** Carries out these commands; what they say is published together, as far as nothing else runs in between. */
  private work(commands: ReadonlyArray<Command>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      let left = commands.length
      for (const command of commands) {
        left--
        if (this.over) {
          refuse(command)
          continue
        }
        const actions = this.interpret(command, left + this.inbox.size)
        if (actions.length > 0) this.journal.publish()
        for (const action of actions) yield* this.act(action)
      }
      this.journal.publish()
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
      yield* this.inbox.end
      yield* this.made?.desk.close() ?? Effect.void
      this.journal.end()
      yield* this.made?.close() ?? Effect.void
      this.options.permits?.settle(this.journal.now, { turn: undefined })
      yield* this.options.onClose ?? Effect.void
    })
  }
}

/**
 * Makes a conversation that lives until the scope closes or it is shut down; then `onClose` runs. Its fiber keeps the
 * context that this runs in.
 */
export const makeIn = Effect.fnUntraced(function* (
  scope: Scope.Scope,
  id: ConversationId,
  settings: ConversationSettings,
  options: ConversationOptions = {},
): Effect.fn.Return<OwnedConversation, never, ModelClient | ToolRuntime> {
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const inbox = yield* Inbox.make
  const live = new Live(id, settings, options, { inbox, services })
  // An interrupt that came before the fiber got to its first step would end it without a word.
  yield* Effect.forkIn(live.life, scope, { startImmediately: true, uninterruptible: true })
  return live
})

/** Likewise, in the scope at hand. */
export const make = (
  ...of: [id: ConversationId, settings: ConversationSettings, options?: ConversationOptions]
): Effect.Effect<OwnedConversation, never, Scope.Scope | ModelClient | ToolRuntime> =>
  Effect.flatMap(Effect.scope, (scope) => makeIn(scope, ...of))
