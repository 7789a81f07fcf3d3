/** State of one connection that uses this dialect: its subscriptions and the requests that were sent to its client. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { AppConnection } from "../app/AppConnection.ts"
import { sendAll } from "../app/subscriptions/SubscriptionPresenter.ts"
import { Subscriptions } from "../app/subscriptions/Subscriptions.ts"
import { wantedOnly } from "../app/WantedNotifications.ts"
import type { PeerControl, RequestCaller } from "../jsonrpc/Caller.ts"
import type { Server } from "../Server.ts"
import { maxEndTime, ThreadNotices } from "./subscriptions/ThreadNotices.ts"
import { ThreadPresenter } from "./subscriptions/ThreadPresenter.ts"
import {
  type ThreadMember,
  threadRegistries,
  type ThreadRegistry,
} from "./subscriptions/ThreadRegistry.ts"
import { ConfigWarnings } from "./host/ConfigWarnings.ts"
import type { ThreadHistory } from "./ThreadHistory.ts"
import type { SentRequests } from "./ThreadQuestions.ts"

/** What the state of a connection needs. */
export interface ThreadConnectionOptions {
  readonly server: Server["Service"]
  readonly principal: string
  readonly app: AppConnection
  readonly sent: SentRequests
}

/** A thread to subscribe to. */
export interface Subscribing {
  readonly conversation: Conversation
  /** What the client reads in the result: the subscription continues behind it. */
  readonly history: ThreadHistory
  /** What the model is sent and what it sends is notified as well. */
  readonly raw?: boolean
  /** The result has the running turn with all its items; else the subscription begins with their beginnings. */
  readonly hasTurn: boolean
}

/** Results with whole threads, which can be many megabytes, that are made or wait for a slow reader at once. */
const maxLargeResults = 4

interface OwnSubscription {
  readonly id: string
  /** Completed once nothing of the subscription follows. */
  readonly ended: Deferred.Deferred<void>
}

/** See the header. */
export class ThreadConnection {
  readonly app: AppConnection
  readonly registry: ThreadRegistry
  /** This connection among those of the registry. */
  readonly member: ThreadMember
  readonly configWarnings = new ConfigWarnings()
  private readonly scope: Scope.Scope
  private readonly presenter: ThreadPresenter
  private readonly subscriptions: Subscriptions
  /** The subscriptions, by thread. */
  private readonly own = new Map<string, OwnSubscription>()
  /** Two requests that subscribe to one thread at the same time must not do it twice. */
  private readonly subscribing = Semaphore.makeUnsafe(1)
  private readonly largeResults = Semaphore.makeUnsafe(maxLargeResults)
  private joined = false

  constructor(
    { app, sent, server }: ThreadConnectionOptions,
    registry: ThreadRegistry,
    scope: Scope.Scope,
    fork: (effect: Effect.Effect<void>) => void,
  ) {
    this.app = app
    this.registry = registry
    this.scope = scope
    const notices = new ThreadNotices(app.notices, fork)
    this.member = {
      put: (method, params) => notices.put(method, params),
      follows: (threadId) => this.isSubscribed(threadId),
      ends: (threadId) => {
        const own = this.own.get(threadId)
        if (own !== undefined) notices.hold(threadId, Deferred.await(own.ended))
      },
    }
    this.presenter = new ThreadPresenter({
      sent,
      onStatus: (...change) => registry.statusChanged(...change),
      onTakenOver: (threadId) => registry.takenOver(threadId),
    })
    this.subscriptions = new Subscriptions({
      scope,
      presenter: this.presenter,
      broker: app.broker,
      // Every client of this dialect is asked; one that cannot answer responds with an error, which denies. Calls of tools
      // are experimental: a client that has not declared that knows none.
      answers: () => (this.isExperimental ? "everything" : "all"),
      cursor: app.cursor,
      broadcast: app.broadcast,
      isClosing: server.isClosing,
    })
  }

  /** The client uses this dialect from now on, so that it gets the notifications of all its clients. */
  get join(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.joined) return Effect.void
      this.joined = true
      this.app.useThreads()
      return Scope.provide(this.registry.join(this.member), this.scope)
    })
  }

  /**
   * Waits until few other results with whole threads are made or wait to be sent; the request counts as one of them until
   * it has ended. Call it once per request.
   */
  roomForLargeResult({ atEnd }: Pick<RequestCaller, "atEnd">): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const fork = Effect.runForkWith(yield* Effect.context())
      yield* Effect.interruptible(this.largeResults.take(1))
      atEnd(() => {
        fork(this.largeResults.release(1))
      })
    }).pipe(Effect.uninterruptible)
  }

  /** Whether the client has declared `experimentalApi`. */
  get isExperimental(): boolean {
    return this.app.capabilities()?.experimentalApi === true
  }

  /** The peer without the notifications that its client does not want. */
  peerOf(peer: PeerControl): PeerControl {
    return wantedOnly(peer, this.app.capabilities)
  }

  isSubscribed(threadId: string): boolean {
    return this.own.has(threadId)
  }

  /**
   * Subscribes to a thread; the subscription starts once the response was accepted, after `first`. Does nothing but `first`
   * for a thread that is subscribed already.
   */
  subscribe(
    { conversation, hasTurn, history, raw = false }: Subscribing,
    { afterAnswer, hold, peer }: Pick<RequestCaller, "afterAnswer" | "hold" | "peer">,
    first: Effect.Effect<void> = Effect.void,
  ): Effect.Effect<void, AttachError> {
    return Effect.gen({ self: this }, function* () {
      const threadId = conversation.id
      const { settings } = yield* conversation.state
      if (this.own.has(threadId)) return afterAnswer(first)
      hold(threadId)
      const ended = Deferred.makeUnsafe<void>()
      const { abandon, id, start } = yield* this.subscriptions.add({
        conversation,
        peer: this.peerOf(peer),
        raw,
        after: history.next - 1,
        // Only what is recorded was read.
        lacksTexts: true,
        onEnd: () => {
          this.forget(threadId)
          Deferred.doneUnsafe(ended, Effect.void)
        },
      })
      this.own.set(threadId, { id, ended })
      this.presenter.prime(threadId, history, {
        raw,
        unread: settings.ephemeral !== true,
      })
      const begin = hasTurn ? Effect.void : this.announce(threadId, peer)
      afterAnswer(Effect.andThen(Effect.andThen(first, begin), start), (wasSent) => {
        if (!wasSent) {
          this.own.delete(threadId)
          Deferred.doneUnsafe(ended, Effect.void)
        }
        abandon()
      })
    }).pipe(Effect.uninterruptible, this.subscribing.withPermits(1))
  }

  /** Sends the beginnings of what runs. A closed connection is only logged. */
  private announce(threadId: string, peer: PeerControl): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach(
        this.presenter.begun(threadId),
        (one) => sendAll(this.peerOf(peer), [one]) ?? Effect.void,
        { discard: true },
      ),
    ).pipe(
      Effect.catch(({ reason }) => Effect.logDebug(`the running turn was not sent: ${reason}`)),
    )
  }

  /** Ends the subscription. False if there is none. */
  unsubscribe(threadId: string): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const own = this.own.get(threadId)
      if (own === undefined) return Effect.succeed(false)
      this.forget(threadId)
      return Effect.ensuring(this.subscriptions.remove(own.id), Deferred.done(own.ended, Exit.void))
    })
  }

  /** Waits until the client was sent the last event of a thread that ends, if it is subscribed; the subscription ends then. */
  ended(threadId: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const own = this.own.get(threadId)
      if (own === undefined) return Effect.void
      // A thread whose events cannot be recorded has no last event.
      return Effect.timeoutOption(Deferred.await(own.ended), maxEndTime).pipe(
        Effect.andThen(this.unsubscribe(threadId)),
        Effect.asVoid,
      )
    })
  }

  private forget(threadId: string): void {
    this.own.delete(threadId)
    this.presenter.forget(threadId)
  }
}

/** Creates the state of one connection. It ends with the current scope. */
export const make = Effect.fnUntraced(function* (
  options: ThreadConnectionOptions,
): Effect.fn.Return<ThreadConnection, never, Scope.Scope> {
  const registries = yield* options.server.shared(threadRegistries)
  const registry = registries(options.principal)
  const fork = yield* FiberSet.makeRuntime()
  return new ThreadConnection(options, registry, yield* Effect.scope, fork)
})
