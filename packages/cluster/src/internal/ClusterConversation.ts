/** The conversation that the manager of a cluster gives to its callers: each call finds the node that has it now. */
import type { Conversation } from "@colloquy/core/Conversation"
import {
  type AttachError,
  ConversationClosed,
  ConversationUnavailable,
  type EventsFromFuture,
  ManagerClosed,
  NoSuchConversation,
  type SubmitError,
} from "@colloquy/core/ConversationErrors"
import type { Access, ConversationManager, GetError } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import { type Receipt, withoutIds } from "@colloquy/core/decider/Receipts"
import type { State } from "@colloquy/core/decider/State"
import type { HeldConversations } from "@colloquy/core/HeldConversations"
import { attachedEvents, type Listener } from "@colloquy/core/listeners/Listener"
import type { AttachOptions } from "@colloquy/core/listeners/Listeners"
import { runTurn } from "@colloquy/core/listeners/TurnRun"
import { defined } from "@colloquy/protocol/Defined"
import { type ConversationId, type SubmissionId, uuidV7 } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { attach } from "./ClusterListener.ts"
import { Elsewhere, NodeUnreachable } from "../NodeErrors.ts"
import type { ConversationCalls } from "../Nodes.ts"
import { elsewhereOf, isMoving, isRecorded } from "./Moving.ts"
import { refusalOf, type Route, type Routing } from "./Routing.ts"
import { type LogParts, sourceHere, sourceOfLog, sourceThere } from "./Sources.ts"

/** What the conversations of a manager share. */
export interface ConversationParts {
  readonly routing: Routing
  /** The manager of this process. */
  readonly local: Pick<ConversationManager["Service"], "get">
  /** As of the log in the store, for which nothing is loaded. */
  readonly recordedState: HeldConversations["Service"]["recordedState"]
  readonly resolver: SettingsResolver["Service"]
  readonly log: LogParts
  /** As of the store; ends in bounded time. */
  readonly positionOf: ConversationStore["Service"]["positionOf"]
}

/** An op as it is submitted to a node. */
interface SubmissionMessage {
  readonly message: Parameters<ConversationCalls["Submit"]>[0]
  /** That no other message has. */
  readonly key: string
}

/** The messages of one op, one after the other; each for this node or for another one. */
type Messages = (isOwn: boolean) => Effect.Effect<SubmissionMessage>

/** Wait from the acceptance of an op by the next node to the question for the end of its turn. */
const repeatedAfterMs = 20

/** First and longest wait between two attempts to load a conversation for a client that waits for it. */
const firstLoadMs = 1000
const longestLoadMs = 10_000

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })

/** An id that no other call has. */
const newId = Effect.gen(function* () {
  const words = [yield* word, yield* word, yield* word, yield* word] as const
  return uuidV7(yield* Clock.currentTimeMillis, words)
})

/** A conversation that is gone, or whose node closes, is not available to a caller that holds it. */
const unavailable =
  (id: ConversationId) =>
  <E>(error: E | NoSuchConversation | ManagerClosed): E | ConversationUnavailable => {
    return error instanceof NoSuchConversation || error instanceof ManagerClosed
      ? new ConversationUnavailable({ id, reason: error.message, because: error })
      : error
  }

/** A conversation on whichever node has it. The members are those of `Conversation`. */
export class ClusterConversation implements Conversation {
  readonly id: ConversationId
  private readonly access: Access | undefined
  private readonly parts: ConversationParts
  /** Present until the first submission to a conversation that is created by it: only this process knows it. */
  private uncreated: Conversation | undefined

  constructor(
    id: ConversationId,
    access: Access | undefined,
    parts: ConversationParts,
    uncreated?: Conversation,
  ) {
    this.id = id
    this.access = access
    this.parts = parts
    this.uncreated = uncreated
  }

  submit(...[op, options]: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    return Effect.mapError(this.send(op, options), unavailable(this.id))
  }

  /** Like `submit`, with the reason where the conversation cannot be used. */
  private send(
    ...[op, options]: Parameters<Conversation["submit"]>
  ): Effect.Effect<Receipt, SubmitError | GetError> {
    const { uncreated } = this
    if (uncreated !== undefined) {
      return Effect.tap(uncreated.submit(op, options), () =>
        Effect.sync(() => void (this.uncreated = undefined)),
      )
    }
    return this.accepted(this.messages(op, options))
  }

  /**
   * Submits an op by its next messages until a node has accepted it, in bounded time. While nodes respond a message needs no
   * statement of the database. One whose response was lost waits there from then on; a node that has read it there and stops
   * may carry it out late, so that no refusal may say that nothing was carried out.
   */
  private accepted(
    next: Messages,
    lost?: NodeUnreachable,
  ): Effect.Effect<Receipt, SubmitError | GetError> {
    return this.parts.routing.call(
      this.id,
      ({ calls, isOwn, mayBeDone }) =>
        Effect.flatMap(next(isOwn), ({ key, message }) =>
          isOwn || !mayBeDone ? calls.Submit(message) : calls.SubmitStored({ ...message, key }),
        ),
      lost,
    )
  }

  runTurn(
    ...[op, options]: Parameters<Conversation["runTurn"]>
  ): ReturnType<Conversation["runTurn"]> {
    const next = this.messages(op, options)
    const once = this.parts.routing.once(this.id, ({ calls, isOwn }) =>
      Effect.flatMap(next(isOwn), ({ message }) =>
        // A listener follows the turn from node to node.
        isOwn
          ? this.runTurnHere(op, { ...options, ...defined({ id: message.submission }) })
          : calls.RunTurn(message),
      ),
    )
    // A turn may go on for long before its node is lost, and more than once: the bound is that of each search for the next.
    const running = (lost?: NodeUnreachable): ReturnType<Conversation["runTurn"]> =>
      Effect.catchIf(
        Effect.mapError(once, (error) => refusalOf(this.id, error, lost)),
        isMoving,
        (error) =>
          Effect.andThen(
            this.accepted(next, error instanceof NodeUnreachable ? error : lost),
            Effect.andThen(Effect.sleep(repeatedAfterMs), running(this.movedSince)),
          ),
      )
    return Effect.suspend(() =>
      this.uncreated === undefined ? running() : this.runTurnHere(op, options),
    )
  }

  /** The failure of a turn that a node accepted: it must not look as if nothing of it had been carried out. */
  private get movedSince(): NodeUnreachable {
    return new NodeUnreachable({
      id: this.id,
      reason: "it has accepted the turn, which moved since",
    })
  }

  private runTurnHere(
    op: Op,
    options: Parameters<Conversation["submit"]>[1],
  ): ReturnType<Conversation["runTurn"]> {
    const members = {
      state: this.readState,
      attach: (given: AttachOptions) => this.listen(given),
    }
    return runTurn(members, this.send(op, options), options?.id)
  }

  /**
   * The messages by which an op is submitted: the first one, and those that repeat it while the conversation moves, each with
   * a key of its own. A repetition has the same id, so that an op whose receipt was lost does not take effect twice. The
   * conversation itself gives an id to one that leaves no other node in doubt.
   */
  private messages(op: Op, options: Parameters<Conversation["submit"]>[1]): Messages {
    let submission = options?.id
    return (isOwn: boolean) =>
      Effect.map(newId, (key) => {
        if (!isOwn) submission ??= key
        const { because, whileRunning } = options ?? {}
        const message = { ...this.target, op, ...defined({ submission, because, whileRunning }) }
        return { message, key }
      })
  }

  cancel(submission: SubmissionId): Effect.Effect<void> {
    const { uncreated } = this
    if (uncreated !== undefined) return uncreated.cancel(submission)
    return this.parts.routing
      .call(this.id, ({ calls }) => calls.Cancel({ ...this.target, submission }))
      .pipe(Effect.catch(({ message }) => Effect.logWarning(`not cancelled: ${message}`)))
  }

  attach(options: AttachOptions = {}): Effect.Effect<Listener, AttachError, Scope.Scope> {
    return Effect.mapError(this.listen(options), unavailable(this.id))
  }

  /** Like `attach`, with the reason where the conversation cannot be used. */
  listen(options: AttachOptions): Effect.Effect<Listener, GetError | AttachError, Scope.Scope> {
    const lacksTexts = options.lacksTexts ?? options.from === undefined
    return attach(this.id, options.from, (from, isAgain) =>
      this.source({ ...options, ...defined({ from }), lacksTexts: lacksTexts && !isAgain }),
    )
  }

  private source(options: AttachOptions) {
    const { routing } = this.parts
    const { id, uncreated } = this
    if (uncreated !== undefined) return sourceHere(uncreated, options)
    return routing.call(id, (route) =>
      Effect.catchTag(this.sourceOf(route, options), "EventsFromFuture", (error) =>
        Effect.flatMap(this.refusal(error), Effect.fail),
      ),
    )
  }

  private sourceOf({ calls, hasLeft, isOwn }: Route, options: AttachOptions) {
    const { access, id } = this
    const { from } = options
    if (hasLeft && from !== undefined) {
      return sourceOfLog(id, access, this.parts.log, { ...options, from })
    }
    if (!isOwn) return sourceThere(id, calls.Attach({ ...this.target, ...options }))
    const attaching = Effect.flatMap(this.parts.local.get(id, access), (one) =>
      sourceHere(one, options),
    )
    return Effect.mapError(attaching, (error) => elsewhereOf(id, error) ?? error)
  }

  /**
   * What the refusal of a node says that does not know the event. Where the event is recorded, the node has lost the
   * conversation and has not learned it yet, or learns of the event in a moment: it is asked again.
   */
  private refusal(
    error: EventsFromFuture,
  ): Effect.Effect<EventsFromFuture | Elsewhere | ConversationUnavailable> {
    const { id } = this
    return Effect.match(this.parts.positionOf(id, error.from - 1), {
      onFailure: (fault) =>
        fault._tag === "StoreError"
          ? new ConversationUnavailable({ id, reason: fault.message, because: fault })
          : error,
      onSuccess: (position) => (position === undefined ? error : new Elsewhere({ id })),
    })
  }

  events(...[options]: Parameters<Conversation["events"]>): ReturnType<Conversation["events"]> {
    return attachedEvents(this, options)
  }

  get state(): Conversation["state"] {
    return Effect.mapError(this.readState, unavailable(this.id))
  }

  /** Like `state`, with the reason where the conversation cannot be used. */
  get readState(): Effect.Effect<State, GetError> {
    const { local, routing } = this.parts
    const { access, id } = this
    return Effect.suspend((): Effect.Effect<State, GetError> => {
      if (this.uncreated !== undefined) return this.uncreated.state
      const here = <E>(reading: Effect.Effect<State, E>) =>
        Effect.mapError(reading, (error) => elsewhereOf(id, error) ?? error)
      return routing.call(id, ({ calls, isOwn }) => {
        const reading: Effect.Effect<State, GetError | Elsewhere | NodeUnreachable> = isOwn
          ? here(Effect.flatMap(local.get(id, access), (one) => one.state))
          : this.readStateThere(calls.ReadState(this.target))
        return Effect.catchIf(reading, isRecorded, (error) => here(this.recorded(error)))
      })
    })
  }

  /**
   * The state as the log has it, whoever appends to it. Another node may have a conversation in its memory that has no log, as
   * long as it does not respond.
   */
  private recorded(
    error: GetError | Elsewhere | NodeUnreachable,
  ): Effect.Effect<State, GetError | NodeUnreachable> {
    const reading = this.parts.recordedState(this.id, this.access)
    return error instanceof NodeUnreachable
      ? Effect.catchTag(reading, "NoSuchConversation", () => Effect.fail(error))
      : reading
  }

  private readStateThere<E>(
    reading: Effect.Effect<
      {
        readonly settings: Parameters<SettingsResolver["Service"]["resolve"]>[0]["stored"] & {}
        readonly rest: string
      },
      E
    >,
  ): Effect.Effect<State, E | ConversationUnavailable> {
    return Effect.flatMap(reading, ({ rest, settings: stored }) =>
      this.parts.resolver.resolve({ stored }).pipe(
        Effect.mapError(
          (because) =>
            new ConversationUnavailable({ id: this.id, reason: because.message, because }),
        ),
        // The owner of the conversation sends its state, which is plain data but for the settings and the receipts.
        Effect.map((settings) => {
          const { receipts, ...more } = JSON.parse(rest) as Omit<State, "settings">
          return { ...more, receipts: withoutIds(receipts), settings }
        }),
      ),
    )
  }

  get loaded(): Conversation["loaded"] {
    return Effect.suspend(() =>
      this.uncreated === undefined ? this.untilLoaded(firstLoadMs) : this.uncreated.loaded,
    )
  }

  private untilLoaded(waitMs: number): Conversation["loaded"] {
    return this.parts.routing
      .call(this.id, ({ calls }) => calls.Load(this.target))
      .pipe(
        Effect.catch((error) =>
          error._tag === "ConversationUnavailable"
            ? Effect.andThen(
                Effect.sleep(waitMs),
                this.untilLoaded(Math.min(2 * waitMs, longestLoadMs)),
              )
            : Effect.fail(new ConversationClosed()),
        ),
      )
  }

  private get target() {
    return { id: this.id, ...defined({ access: this.access }) }
  }
}
