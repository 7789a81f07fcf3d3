/**
 * The events of one conversation as a stream over clients: subscribes, pulls, and subscribes again
 * behind the last event when a subscription ends (L4).
 */
import { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConversationFailed, type ConversationMessage, Subscriber } from "./Subscribers.ts"

/** Which events a stream delivers. */
export interface EventsOptions {
  /**
   * `seq` of the last event that is already known; the stream starts behind it. Default -1: all
   * events.
   */
  readonly after?: number
  /** True to include the items that are sent to and received from the model. */
  readonly raw?: boolean
}

/** What a stream needs of a client. */
export interface EventSource {
  /** Resolves at the end of the connection, after all listeners were released. */
  readonly closed: Effect.Effect<void>
  /** Registers a listener for this subscriber, from its `cursor` on. */
  readonly subscribe: (
    conversationId: string,
    subscriber: Subscriber,
    raw: boolean,
  ) => Effect.Effect<void, JsonRpcError | ConnectionClosed>
  /** Removes a listener. Does not wait for the response. */
  readonly unsubscribe: (subscriptionId: string) => Effect.Effect<void>
}

/** Where a stream gets its client. */
export interface EventSources<E> {
  /** The client to subscribe with now. */
  readonly current: Effect.Effect<EventSource, E>
  /** True when another connection may follow the end of this one. */
  readonly reconnects: boolean
}

type Failure<E> = E | JsonRpcError | ConnectionClosed

class EventReader<E> {
  private readonly sources: EventSources<E>
  private readonly conversationId: string
  private readonly raw: boolean
  private readonly subscriber: Subscriber
  private source: EventSource | undefined

  constructor(
    sources: EventSources<E>,
    conversationId: string,
    { after = -1, raw = false }: EventsOptions,
  ) {
    this.sources = sources
    this.conversationId = conversationId
    this.raw = raw
    this.subscriber = new Subscriber(after)
  }

  /** The next messages. Subscribes first when there is no subscription. */
  readonly pull: Effect.Effect<
    readonly [ConversationMessage, ...ReadonlyArray<ConversationMessage>],
    Failure<E> | ConversationFailed | Cause.Done
  > = Effect.suspend(() => {
    const [first, ...rest] = this.subscriber.take()
    if (first !== undefined) return Effect.succeed([first, ...rest] as const)
    const { closed, cursor, failure, subscriptionId, wait } = this.subscriber
    if (failure !== undefined) {
      return Effect.fail(new ConversationFailed({ reason: failure, next: cursor + 1 }))
    }
    if (closed) return Cause.done()
    return Effect.andThen(subscriptionId === undefined ? this.subscribe : wait, this.pull)
  })

  /** Removes the listener; a subscription that is still being made is removed when it is. */
  readonly release: Effect.Effect<void> = Effect.suspend(() => {
    this.subscriber.isAbandoned = true
    const id = this.subscriber.subscriptionId
    return this.source === undefined || id === undefined ? Effect.void : this.source.unsubscribe(id)
  })

  private get subscribe(): Effect.Effect<void, Failure<E>> {
    return Effect.gen({ self: this }, function* () {
      this.source = yield* this.sources.current
      yield* this.source.subscribe(this.conversationId, this.subscriber, this.raw)
    }).pipe(
      Effect.catchIf(
        (error) => this.sources.reconnects && error instanceof ConnectionClosed,
        // Not subscribed: the next pull tries again over the next connection.
        () => this.source?.closed ?? Effect.void,
      ),
    )
  }
}

/** The events of a conversation from `after` on. Each run of the stream has a listener of its own. */
export const eventStream = <E>(
  sources: EventSources<E>,
  conversationId: string,
  options: EventsOptions = {},
): Stream.Stream<ConversationMessage, Failure<E> | ConversationFailed> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new EventReader(sources, conversationId, options)),
        (reader): Effect.Effect<void, never, Scope.Scope> => reader.release,
      ),
      (reader) => Stream.fromPull(Effect.succeed(reader.pull)),
    ),
  )
