/**
 * A conversation: one fiber that owns a `Ref` of state, an event log and a `PubSub` of events (design §4).
 *
 * Everything that happens to it comes through one bounded inbox and is decided by `ConversationState`; this file
 * interprets the decisions. It never waits for a listener (L6), numbers events without a gap (L4), starts with
 * `session_configured` (L3) and closes every turn with one terminal event, also when it is closed itself (L5).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import { ApprovalDesk } from "./ApprovalDesk.ts"
import { ConversationClosed, type SubmitError } from "./ConversationErrors.ts"
import type { ConversationOptions, OwnedConversation } from "./ConversationHandle.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { type Draft, initial, number, project, type State } from "./ConversationState.ts"
import { decide } from "./Decide.ts"
import type { Action, Decision, Input, Receipt } from "./Decision.ts"
import { EventLog } from "./EventLog.ts"
import { grantFor } from "./Grants.ts"
import type { Batch } from "./Listener.ts"
import { Listeners } from "./Listeners.ts"
import type { ModelClient } from "./ModelClient.ts"
import { opening } from "./Opening.ts"
import { closeUnfinished, restore } from "./Restore.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"
import type * as Turn from "./Turn.ts"
import * as TurnRunner from "./TurnRunner.ts"

export type { Conversation, OwnedConversation } from "./ConversationHandle.ts"

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

  const desk = new ApprovalDesk(turns, (input) => send({ input }))
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
          ask: (request) => desk.ask(turnId, request),
          granted: (request) =>
            Effect.map(
              Ref.get(state),
              ({ approvals }) => grantFor(approvals.grants, request) !== undefined,
            ),
          emit: (messages) => Effect.asVoid(send({ input: { _tag: "Emit", turnId, messages } })),
          advance: (progress) =>
            Effect.map(ask({ _tag: "Advance", turnId, ...progress }), (answer) =>
              answer._tag === "Decision" ? answer.step : undefined,
            ),
        },
      )
    })

  /** Carries out one command. One generator for all of them: one made for each cost a third more time. */
  const interpret = Effect.fnUntraced(function* (command: Command, unread: number) {
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
    for (const action of decision.actions) yield* act(action)
  })

  const act = (action: Action): Effect.Effect<unknown> => {
    switch (action._tag) {
      case "StartTurn":
        return startTurn(action.id)
      case "InterruptTurn":
        return runner.interrupt
      case "Settle":
        return desk.settle(action.number, action.verdict)
      case "StartDeadline":
        return desk.startDeadline(action.number, action.after)
      case "Close":
        return Effect.sync(() => {
          over = true
        })
    }
  }

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
    yield* desk.close()
    yield* PubSub.end(hub, { _tag: "Closed" })
    yield* Scope.close(turns, Exit.void)
    permits?.settle(yield* Ref.get(state), { turn: undefined })
    yield* options.onClose ?? Effect.void
  })

  yield* Ref.update(state, (s) =>
    record(
      s,
      existing === undefined ? opening(id, settings) : closeUnfinished(s, log.openQuestions()),
    ),
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
          ...(options?.because === undefined ? {} : { because: options.because }),
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
    attach: (options) =>
      options?.answers === true
        ? Effect.tap(listeners.attach(options), () =>
            Effect.acquireRelease(send({ input: { _tag: "Attend", by: 1 } }), () =>
              send({ input: { _tag: "Attend", by: -1 } }),
            ),
          )
        : listeners.attach(options),
    events: Effect.sync(() => log.slice(0, log.seq)),
    suspend: Effect.flatMap(Deferred.make<ReadonlyArray<Event> | undefined>(), (suspend) =>
      Effect.flatMap(send({ suspend }), (taken) =>
        taken ? Deferred.await(suspend) : Effect.undefined,
      ),
    ),
  }
})
