/**
 * A conversation: one fiber that owns a `Ref` of state, an event log and a `PubSub` of events (design §4).
 *
 * Everything that happens to it comes through one bounded inbox and is decided by `ConversationState`; this file
 * interprets the decisions. It never waits for a listener (L6), numbers events without a gap (L4), starts with
 * `session_configured` (L3) and closes every turn with one terminal event, also when it is closed itself (L5).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import {
  type AttachError,
  ConversationClosed,
  type ConversationUnavailable,
  type SubmitError,
} from "./ConversationErrors.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { type Draft, initial, number, project, type State } from "./ConversationState.ts"
import { decide } from "./Decide.ts"
import type { Decision, Input, Receipt, WhileRunning } from "./Decision.ts"
import { EventLog } from "./EventLog.ts"
import type { Batch, Listener } from "./Listener.ts"
import { Listeners } from "./Listeners.ts"
import type { ModelClient } from "./ModelClient.ts"
import { opening } from "./Opening.ts"
import type { OutboxLimits } from "./Outbox.ts"
import { closeUnfinished, type Existing, restore } from "./Restore.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"
import type * as Turn from "./Turn.ts"
import * as TurnRunner from "./TurnRunner.ts"
import type { TurnPermits } from "./TurnPermits.ts"

export interface Conversation {
  readonly id: ConversationId
  /**
   * Hands an op to the conversation. The receipt says which submission's events to follow: the given or automatic
   * id, or that of the running turn it joined. Its events come after the receipt. Fails without any effect.
   *
   * A given id makes it idempotent: repeated, whatever the op, it gives the first's receipt and nothing happens, as
   * long as fewer than 1,024 ids were given since. An id that the conversation gave out itself is refused. Input
   * without items is taken and nothing happens; more than 1,024 items or 16 MiB of text are refused `TooLarge`.
   * `whileRunning` (default `queue`) counts for input alone.
   */
  readonly submit: (
    op: Op,
    options?: { readonly id?: SubmissionId; readonly whileRunning?: WhileRunning },
  ) => Effect.Effect<Receipt, SubmitError>
  /**
   * Stops that submission, running or waiting; acknowledged at once, its `turn_aborted` follows within a second plus
   * the kill grace of the settings, also when what the turn runs does not stop (L14). Nothing else is told of it then.
   */
  readonly cancel: (id: SubmissionId) => Effect.Effect<void>
  /**
   * Listens from durable event `from` on; default: what comes now. Ends with the scope. Fails, and nobody listens,
   * when `from` lies beyond the next event or too many listen already.
   */
  readonly attach: (options?: {
    readonly from?: number
    readonly limits?: OutboxLimits
  }) => Effect.Effect<Listener, AttachError, Scope.Scope>
  /** A snapshot. */
  readonly state: Effect.Effect<State, ConversationUnavailable>
}

/** What only the owner of a conversation may do with it. */
export interface OwnedConversation extends Conversation {
  readonly state: Effect.Effect<State>
  /** Every durable event so far: a snapshot. */
  readonly events: Effect.Effect<ReadonlyArray<Event>>
  /**
   * When nothing runs, waits or listens and nothing unread is in the inbox: ends the fiber without any event and
   * gives the log. Otherwise, and of one that has ended, undefined and nothing happened. A submission that races
   * with it either wins or fails with `ConversationClosed`; a listener that comes later sees the log and its end.
   */
  readonly suspend: Effect.Effect<ReadonlyArray<Event> | undefined>
}

export interface ConversationOptions {
  /** Runs when the fiber has ended, for whatever reason. */
  readonly onClose?: Effect.Effect<unknown>
  /** Goes on from here; no event is told anew, but a turn that was left open is closed with `turn_aborted`. */
  readonly existing?: Existing
  /** One more is refused. Default 1,024. */
  readonly maxListeners?: number
  /** Shared by the conversations whose turns count together; default: no limit. */
  readonly permits?: TurnPermits
}

type Answer =
  | { readonly _tag: "Decision"; readonly decision: Decision; readonly step?: Turn.Step }
  | { readonly _tag: "Closed" }

type Command =
  | { readonly input: Input; readonly reply?: Deferred.Deferred<Answer> }
  | { readonly suspend: Deferred.Deferred<ReadonlyArray<Event> | undefined> }

/** Submissions and events a conversation has not looked at yet; more wait outside (§5.1: 64 in the original). */
const inboxCapacity = 64
/** Batches a listener's pump may be late. */
const hubCapacity = 16

/** Makes a conversation that lives until its scope closes or it is shut down; then `onClose` runs. */
export const make = Effect.fnUntraced(function* (
  id: ConversationId,
  settings: ConversationSettings,
  options: ConversationOptions = {},
): Effect.fn.Return<OwnedConversation, never, Scope.Scope | ModelClient | ToolRuntime> {
  const { existing, permits } = options
  const state = yield* Ref.make(
    existing === undefined ? initial(settings) : restore(settings, existing),
  )
  const log = new EventLog()
  log.append(existing?.events ?? [])
  const hub = yield* PubSub.bounded<Batch>(hubCapacity)
  const inbox = yield* Queue.bounded<Command, Cause.Done>(inboxCapacity)
  const listeners = new Listeners(log, hub, options.maxListeners)
  const turns = yield* Scope.make()
  /** True once the last command was carried out. */
  let over = false

  let unpublished: Array<Event> = []

  const record = (current: State, drafts: ReadonlyArray<Draft>): State => {
    const events = number(current.seq, drafts)
    log.append(events)
    // Not spread: a model that says a million deltas at once would overflow the stack.
    for (const event of events) unpublished.push(event)
    return events.reduce(project, current)
  }

  const publish = Effect.suspend(() => {
    if (unpublished.length === 0) return Effect.void
    const batch: Batch = { _tag: "Events", events: unpublished, end: log.position }
    unpublished = []
    return Effect.asVoid(PubSub.publish(hub, batch))
  })

  const send = (command: Command) => Queue.offer(inbox, command)

  const ask = (input: Input): Effect.Effect<Answer> =>
    Effect.flatMap(Deferred.make<Answer>(), (reply) =>
      Effect.flatMap(send({ input, reply }), (taken) =>
        taken ? Deferred.await(reply) : Effect.succeed<Answer>({ _tag: "Closed" }),
      ),
    )

  const runner = yield* TurnRunner.make({
    scope: turns,
    onEnd: (turnId, exit) => send({ input: { _tag: "Ended", turnId, exit } }),
  })

  const startTurn = (turnId: SubmissionId) =>
    Effect.gen(function* () {
      const { settings } = yield* Ref.get(state)
      yield* runner.start(
        { id: turnId, conversationId: id, settings },
        {
          emit: (messages) => Effect.asVoid(send({ input: { _tag: "Emit", turnId, messages } })),
          advance: (progress) =>
            Effect.map(ask({ _tag: "Advance", turnId, ...progress }), (answer) =>
              answer._tag === "Decision" ? answer.step : undefined,
            ),
        },
      )
    })

  /** Carries out one command. */
  const interpret = (command: Command, unread: number) =>
    Effect.gen(function* () {
      const before = yield* Ref.get(state)
      if ("suspend" in command) {
        over = before.turn === undefined && before.waiting.length + listeners.size + unread === 0
        yield* Deferred.succeed(command.suspend, over ? log.all() : undefined)
        return
      }
      const decided = decide(before, command.input)
      const decision = permits?.admit(before, decided) ?? decided
      const after = record(decision.state, decision.events)
      permits?.settle(before, after)
      yield* Ref.set(state, after)
      if (command.reply !== undefined) {
        const step: Turn.Step | undefined =
          decision.goOn === true
            ? { history: log.history(), seq: log.seq - 1, usage: after.usage }
            : undefined
        yield* Deferred.succeed(command.reply, {
          _tag: "Decision",
          decision,
          ...(step === undefined ? {} : { step }),
        })
      }
      for (const action of decision.actions) {
        if (action._tag === "StartTurn") yield* startTurn(action.id)
        else if (action._tag === "InterruptTurn") yield* runner.interrupt
        else over = true
      }
    })

  /** Interprets what is in the inbox, then publishes all of it at once. */
  const work = (commands: ReadonlyArray<Command>) =>
    Effect.gen(function* () {
      let left = commands.length
      for (const command of commands) {
        left--
        yield* over ? refuse(command) : interpret(command, left + Queue.sizeUnsafe(inbox))
      }
      yield* publish
    }).pipe(Effect.uninterruptible)

  // Only the wait can be interrupted: what was taken is carried out, or its reply would never come.
  const next: Effect.Effect<void, Cause.Done> = Effect.suspend(() =>
    over
      ? Effect.void
      : Effect.interruptible(Queue.peek(inbox)).pipe(
          Effect.andThen(Queue.takeAll(inbox)),
          Effect.flatMap(work),
          Effect.andThen(next),
        ),
  )
  const loop = Effect.uninterruptible(next)

  const refuse = (command: Command): Effect.Effect<unknown> => {
    if ("suspend" in command) return Deferred.succeed(command.suspend, undefined)
    return command.reply === undefined
      ? Effect.void
      : Deferred.succeed(command.reply, { _tag: "Closed" })
  }

  const shutDown: Command = {
    input: { _tag: "Submit", id: undefined, op: { type: "shutdown" }, whileRunning: "reject" },
  }
  // A turn that does not stop in time is told of as if it had; its fiber is still waited for below.
  const giveUpTurn = Effect.flatMap(Ref.get(state), (current) =>
    current.turn === undefined
      ? Effect.void
      : work([
          { input: { _tag: "Ended", turnId: current.turn.id, exit: { _tag: "Interrupted" } } },
        ]),
  )
  // The scope closes: the same shutdown as by op, within its bound.
  const shutDownNow = Effect.andThen(work([shutDown]), loop).pipe(
    Effect.timeoutOption(TurnRunner.stopBound(settings)),
    Effect.andThen(giveUpTurn),
  )

  const close = Effect.gen(function* () {
    yield* Queue.end(inbox)
    // Callers that wait for room get in as it empties, until the queue is done.
    yield* Effect.forEach(yield* Queue.collect(inbox), refuse, { discard: true })
    yield* PubSub.end(hub, { _tag: "Closed" })
    yield* Scope.close(turns, Exit.void)
    permits?.settle(yield* Ref.get(state), { turn: undefined })
    yield* options.onClose ?? Effect.void
  })

  yield* Ref.update(state, (s) =>
    record(s, existing === undefined ? opening(id, settings) : closeUnfinished(s)),
  )
  // Nobody can have listened yet.
  unpublished = []
  yield* loop.pipe(
    Effect.onInterrupt(() => shutDownNow),
    Effect.tapDefect((defect) => Effect.logError("a conversation died", defect)),
    Effect.ensuring(close),
    // An interrupt that came before the fiber got here would end it without a word.
    Effect.forkScoped({ startImmediately: true, uninterruptible: true }),
  )

  return {
    id,
    state: Ref.get(state),
    submit: (op, options) =>
      Effect.flatMap(
        ask({
          _tag: "Submit",
          id: options?.id,
          op,
          whileRunning: options?.whileRunning ?? "queue",
        }),
        (answer): Effect.Effect<Receipt, SubmitError> => {
          if (answer._tag === "Closed") return Effect.fail(new ConversationClosed())
          const { receipt, refused } = answer.decision
          return receipt === undefined
            ? Effect.fail(refused ?? new ConversationClosed())
            : Effect.succeed(receipt)
        },
      ),
    cancel: (submissionId) => Effect.asVoid(ask({ _tag: "Cancel", id: submissionId })),
    attach: (options) => listeners.attach(options),
    events: Effect.sync(() => log.slice(0, log.seq)),
    suspend: Effect.flatMap(Deferred.make<ReadonlyArray<Event> | undefined>(), (suspend) =>
      Effect.flatMap(send({ suspend }), (taken) =>
        taken ? Deferred.await(suspend) : Effect.undefined,
      ),
    ),
  }
})
