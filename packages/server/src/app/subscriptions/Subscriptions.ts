/**
 * The listeners of one connection: each gets every event of its conversation, in order, after the response that created
 * it (L2, L4). A client that does not read delays its own listeners only (L6). Events that a request causes follow its
 * response: while the request is being answered it holds its conversation (`AnswerGate`).
 *
 * If events can no longer be recorded, the listeners are sent the reason and continue after the last event that they were
 * sent as soon as any client uses the conversation again (L5). Where another process has taken the conversation over (L16),
 * a dialect may end them instead. Knows no name of the wire (`SubscriptionPresenter`).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError, ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import { LeaseLost } from "@colloquy/core/StoreErrors"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { runBatches } from "@colloquy/core/listeners/Listening"
import type { Answers } from "@colloquy/core/approvals/Approval"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { defined } from "@colloquy/protocol/Defined"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { EventFormat } from "../../events/V1Events.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { QuestionBroker } from "../../questions/QuestionBroker.ts"
import type { Broadcast } from "./Broadcast.ts"
import { DeliverySender } from "./Deliveries.ts"
import type { DeliveryCursor } from "./DeliveryCursor.ts"
import { Subscription } from "./Subscription.ts"
import { subscriptionId } from "./SubscriptionId.ts"
import {
  type Listening,
  type Notification,
  sendAll,
  type SubscriptionPresenter,
} from "./SubscriptionPresenter.ts"

/** What a client asks for with a listener. */
export interface AddOptions {
  readonly conversation: Conversation
  readonly peer: PeerControl
  /** Raw response items are sent too. */
  readonly raw: boolean
  /** Number of the last event that the client has; such a client gets every event with its number. */
  readonly after?: number
  /** True: the client has nothing of the texts that were streamed before (`AttachOptions`); default: where `after` is absent. */
  readonly lacksTexts?: boolean
  /** Called once the client was sent the last event, because the conversation has ended; the listener is removed then. */
  readonly onEnd?: () => void
}

/** A listener that was added, before its response. */
export interface AddedSubscription {
  readonly id: string
  /** Starts to send. */
  readonly start: Effect.Effect<void>
  /** Removes it, unless it was started: the response was not accepted. */
  readonly abandon: () => void
}

/** What the listeners of a connection share. */
export interface SubscriptionsOptions {
  /** Scope of the connection. */
  readonly scope: Scope.Scope
  readonly presenter: SubscriptionPresenter
  readonly broker: QuestionBroker
  /** Which questions can be put to the client; undefined: none. */
  readonly answers: () => Answers | undefined
  readonly cursor: DeliveryCursor
  readonly broadcast: Broadcast
  /** True once all conversations end, with their manager. */
  readonly isClosing: Effect.Effect<boolean>
}

/** One attachment of a listener: from loading the conversation until it ends or is evicted after an error. */
interface Attachment {
  readonly listener: Listener
  readonly sender: DeliverySender
  /** Holds the attachment and the share of the conversation's questions. */
  readonly scope: Scope.Closeable
}

/** A listener and what it is served with. */
interface Served {
  readonly subscription: Subscription
  readonly peer: PeerControl
  readonly format: EventFormat
}

const listeningOf = ({ subscription: { conversation, id } }: Served): Listening => ({
  conversationId: conversation.id,
  subscriptionId: id,
})

/** See the header. */
export class Subscriptions {
  private readonly all = new Map<string, Subscription>()
  private readonly options: SubscriptionsOptions

  constructor(options: SubscriptionsOptions) {
    this.options = options
  }

  /** Adds a listener, which is attached now and sends nothing before `start`. */
  add(added: AddOptions): Effect.Effect<AddedSubscription, AttachError> {
    return Effect.gen({ self: this }, function* () {
      const { after, conversation, lacksTexts = after === undefined, onEnd, peer, raw } = added
      const fork = Effect.runForkWith(yield* Effect.context())
      const scope = yield* Scope.fork(this.options.scope)
      const from = after === undefined ? this.options.cursor.from(conversation.id) : after + 1
      const subscription = new Subscription(yield* subscriptionId, conversation, scope, from ?? 0)
      const served = { subscription, peer, format: { raw, all: after !== undefined } }
      const attachment = yield* this.attach(served, from, lacksTexts).pipe(
        Effect.onError(() => Scope.close(scope, Exit.void)),
      )
      this.all.set(subscription.id, subscription)
      peer.outlast?.(this.allIdle)
      const serving = this.serve(served, attachment).pipe(
        Effect.catchTag("ConnectionClosed", ({ reason }) =>
          Effect.logDebug(`a listener ended: ${reason}`),
        ),
        Effect.andThen(
          Effect.sync(() => {
            subscription.end()
            if (onEnd === undefined || !this.all.delete(subscription.id)) return
            onEnd()
            fork(this.end(subscription))
          }),
        ),
      )
      return {
        id: subscription.id,
        start: Effect.suspend(() => {
          subscription.started = true
          return Effect.asVoid(Effect.forkIn(serving, scope, { startImmediately: true }))
        }),
        abandon: () => {
          if (subscription.started) return
          this.all.delete(subscription.id)
          fork(this.end(subscription))
        },
      }
    }).pipe(Effect.uninterruptible)
  }

  /** Removes a listener. Resolves when nothing of it follows, with false if there is none with this id. */
  remove(id: string): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const subscription = this.all.get(id)
      if (subscription === undefined) return Effect.succeed(false)
      this.all.delete(id)
      return Effect.as(this.end(subscription), true)
    })
  }

  /** Waits until every listener of that conversation was sent that event. */
  delivered(conversationId: string, seq: number): Effect.Effect<void> {
    const started = [...this.all.values()].filter(
      (one) => one.conversation.id === conversationId && one.started,
    )
    return Effect.forEach(started, (one) => one.delivered(seq), { discard: true })
  }

  /** Waits until no conversation that a listener follows runs a turn, and all events were sent. */
  private readonly allIdle = Effect.suspend(() =>
    Effect.forEach(
      [...this.all.values()].filter(({ started }) => started),
      ({ idle }) => idle,
      { concurrency: "unbounded", discard: true },
    ),
  )

  private end(subscription: Subscription): Effect.Effect<void> {
    return Effect.suspend(() => {
      subscription.end()
      return Scope.close(subscription.scope, Exit.void)
    })
  }

  /** Attaches to the conversation as it is now; counts as one of its listeners until the scope closes. */
  private attach(
    served: Served,
    from: number | undefined,
    lacksTexts = false,
  ): Effect.Effect<Attachment, AttachError> {
    const { answers: answersOf, broadcast, broker, cursor, isClosing, presenter } = this.options
    const { format, peer, subscription } = served
    const { conversation } = subscription
    return Effect.gen(function* () {
      const scope = yield* Scope.fork(subscription.scope)
      const answers = answersOf()
      return yield* Effect.gen(function* () {
        const listener = yield* conversation.attach({
          lacksTexts,
          ...defined({ answers, from }),
        })
        cursor.attached(conversation.id)
        yield* Effect.addFinalizer(() => Effect.sync(() => cursor.detached(conversation.id)))
        const present = presenter.present(conversation, peer)
        const presentCall = presenter.presentCall?.(conversation, peer)
        const questions = yield* broker.share({
          conversation,
          present,
          ...defined({ presentCall }),
        })
        const shared = { presenter, cursor, broadcast, isClosing }
        const target = { ...shared, subscription, peer, format, questions }
        return { listener, sender: new DeliverySender(target), scope }
      }).pipe(
        Scope.provide(scope),
        Effect.onError(() => Scope.close(scope, Exit.void)),
      )
    }).pipe(Effect.uninterruptible)
  }

  /** Sends what the conversation delivers until it has ended, and again after every time it was unavailable. */
  private serve(served: Served, attachment: Attachment): Effect.Effect<void, ConnectionClosed> {
    return this.follow(served, attachment).pipe(
      Effect.catchTags({
        // The conversation has ended; the subscription stays until it is removed.
        Done: () => (served.format.all ? this.notifyEnded(served) : Effect.void),
        ConversationUnavailable: (error) =>
          this.takenOver(served, attachment, error) ?? this.suspended(served, attachment, error),
      }),
    )
  }

  private follow(
    { peer, subscription }: Served,
    { listener, sender }: Attachment,
  ): Effect.Effect<never, ConnectionClosed | ListenerEnd> {
    return runBatches(listener, (deliveries) =>
      Effect.andThen(peer.passed(subscription.conversation.id), sender.send(deliveries)),
    )
  }

  private notifyClosed(served: Served, reason?: string): Effect.Effect<void, ConnectionClosed> {
    const closed = this.options.presenter.closed(listeningOf(served), reason)
    return (closed === undefined ? undefined : sendAll(served.peer, [closed])) ?? Effect.void
  }

  /** Sends nothing while the manager ends: its conversations continue in the next process. */
  private notifyEnded(served: Served): Effect.Effect<void, ConnectionClosed> {
    return Effect.flatMap(this.options.isClosing, (closing) =>
      closing ? Effect.void : this.notifyClosed(served),
    )
  }

  /** Sends the end of what has begun; undefined where the listener waits for the conversation. */
  private takenOver(
    served: Served,
    attachment: Attachment,
    { because, message }: ConversationUnavailable,
  ): Effect.Effect<void, ConnectionClosed> | undefined {
    if (!(because instanceof LeaseLost)) return undefined
    const ends = this.options.presenter.takenOver?.(listeningOf(served), message)
    return ends === undefined
      ? undefined
      : Effect.andThen(Scope.close(attachment.scope, Exit.void), this.sendEach(served, ends))
  }

  private sendEach(
    { peer }: Served,
    notifications: Effect.Effect<ReadonlyArray<Notification>>,
  ): Effect.Effect<void, ConnectionClosed> {
    return Effect.flatMap(notifications, (all) =>
      Effect.forEach(all, (one) => sendAll(peer, [one]) ?? Effect.void, { discard: true }),
    )
  }

  /** Sends the reason, and continues as soon as the conversation is used again. */
  private suspended(
    served: Served,
    attachment: Attachment,
    { message }: ConversationUnavailable,
  ): Effect.Effect<void, ConnectionClosed> {
    return Effect.suspend(() => {
      served.subscription.suspend()
      const ends = this.options.presenter.suspended?.(listeningOf(served), message)
      const notify =
        ends === undefined ? this.notifyClosed(served, message) : this.sendEach(served, ends)
      // Withdraws the pending questions; what was delivered to no listener waits for the next one.
      return Scope.close(attachment.scope, Exit.void).pipe(
        Effect.andThen(notify),
        Effect.andThen(this.serveAgain(served)),
      )
    })
  }

  private serveAgain(served: Served): Effect.Effect<void, ConnectionClosed> {
    const { subscription } = served
    return subscription.conversation.loaded.pipe(
      Effect.andThen(Effect.suspend(() => this.attach(served, subscription.next))),
      Effect.flatMap((attachment) => {
        subscription.resume()
        return this.serve(served, attachment)
      }),
      Effect.catchTags({
        // The conversation was removed: its client knows already that nothing follows.
        ConversationClosed: () => Effect.void,
        ConversationUnavailable: () => this.serveAgain(served),
        EventsFromFuture: ({ message }) => this.notifyClosed(served, message),
        TooManyListeners: ({ message }) => this.notifyClosed(served, message),
      }),
    )
  }
}
