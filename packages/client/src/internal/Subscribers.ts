/**
 * The event listeners of one connection: takes the server's event notifications and keeps them, in
 * bounded memory, until they are read. Never blocks the reader of the connection: a listener that
 * falls too far behind is removed, and subscribes again behind the last event that it was given
 * (L4, L6).
 *
 *   new ── startSubscription ──▶ subscribed ── close ──▶ closed (unread messages can still be taken)
 *                                │      ▲
 *                                └ lost ┘ number missing, too slow, or connection ended: subscribe again from `cursor`
 */
import type { Params } from "@colloquy/protocol/Method"
import {
  type ConversationClosed,
  type ConversationLagged,
  type ConversationSkipped,
  type ConversationSynced,
  type EventParams,
} from "@colloquy/protocol/app/Events"
import { type AnyEventMsg, eventInfo } from "@colloquy/protocol/EventMsg"
import * as Data from "effect/Data"
import * as Latch from "effect/Latch"

/**
 * The server cannot record the conversation any more. The running turn was stopped; its terminal
 * event is delivered to the next `events` whose `after` is `next - 1`, once the store works again.
 */
export class ConversationFailed extends Data.TaggedError("ConversationFailed")<{
  /** Why recording failed. */
  readonly reason: string
  /** Number of the first event that was not delivered. */
  readonly next: number
}> {
  override get message() {
    return this.reason
  }
}

/** A message about a conversation that a listener receives. */
export type ConversationMessage =
  | {
      readonly _tag: "Event"
      /** Id of the turn or the submission that the event belongs to. */
      readonly id: string
      readonly msg: AnyEventMsg
      /**
       * Number of a durable event; without gaps if all events are delivered (`raw`). A delta
       * carries the number of the event before it.
       */
      readonly seq: number
    }
  /** Everything so far has been delivered; the next durable event has this number. */
  | { readonly _tag: "Synced"; readonly seq: number }
  /**
   * Events continue at this number after a pause, because the client was too slow or the connection
   * was lost. No durable event is missing or repeated; deltas may be missing, and a text that is
   * still being received starts again from its beginning.
   */
  | { readonly _tag: "Resumed"; readonly from: number }

/** Unread messages of one listener before it is removed: as many as the server keeps for one. */
const maxUnread = 1024

/** An event that this version does not know is durable if its type is not that of an ephemeral event. */
const isDurable = (msg: AnyEventMsg): boolean =>
  eventInfo(msg.type === "unknown_event" ? msg.sent.type : msg.type).durable

/** One listener of a conversation, across its subscriptions. */
export class Subscriber {
  /** Number of the last durable event that was put in the queue. */
  cursor: number
  /** Id of the subscription, while there is one. */
  subscriptionId: string | undefined
  /** True when the stream is no longer read. */
  isAbandoned = false
  /** True when the conversation has ended: the unread messages are the last ones. */
  closed = false
  /** Why the conversation cannot be recorded any more, if that is why it ended. */
  failure: string | undefined
  /** The cursor at which a number was missing; the events behind it have been requested again. */
  private missingAfter: number | undefined
  private hasSubscribed = false
  private unread: Array<ConversationMessage> = []
  private readonly changed = Latch.makeUnsafe(false)

  constructor(after: number) {
    this.cursor = after
  }

  /** Resolves when there are messages to take or the state has changed. */
  get wait() {
    return this.changed.await
  }

  /** Puts a message in the queue. */
  push(one: ConversationMessage): void {
    this.unread.push(one)
    this.changed.openUnsafe()
  }

  /**
   * Takes an event. Returns false when a number before it is missing: the events from there on must
   * be requested again.
   */
  event({ id, msg, seq = this.cursor }: EventParams): boolean {
    if (isDurable(msg)) {
      if (seq <= this.cursor) return true
      if (this.misses(seq)) return false
      this.cursor = seq
    }
    this.push({ _tag: "Event", id, msg, seq })
    return true
  }

  /** Takes the number of a durable event that the server does not send. Returns like `event`. */
  skipped(seq: number): boolean {
    if (seq <= this.cursor) return true
    if (this.misses(seq)) return false
    this.cursor = seq
    return true
  }

  /**
   * True when a number is missing. A number that is missing again after the second request is not
   * sent at all: older servers number events that they do not send.
   */
  private misses(seq: number): boolean {
    if (seq === this.cursor + 1 || this.missingAfter === this.cursor) return false
    this.missingAfter = this.cursor
    return true
  }

  /** True when the listener must be removed. */
  get isFull(): boolean {
    return this.unread.length >= maxUnread
  }

  /** Starts taking messages of a subscription. */
  startSubscription(subscriptionId: string): void {
    if (this.hasSubscribed) this.push({ _tag: "Resumed", from: this.cursor + 1 })
    this.hasSubscribed = true
    this.subscriptionId = subscriptionId
  }

  /**
   * Ends the listener for good. `failure` says why the conversation cannot be recorded any more.
   */
  close(failure?: string): void {
    this.failure = failure
    this.closed = true
    this.changed.openUnsafe()
  }

  /** The subscription has ended; the next read subscribes again. */
  endSubscription(): void {
    this.subscriptionId = undefined
    this.changed.openUnsafe()
  }

  /** Removes and returns the unread messages. */
  take(): ReadonlyArray<ConversationMessage> {
    const taken = this.unread
    this.unread = []
    if (this.subscriptionId !== undefined) this.changed.closeUnsafe()
    return taken
  }
}

/** The listeners of one connection, by subscription. */
export interface Subscribers {
  /** Registers the subscription of a listener. If the listener is no longer read, it is removed. */
  readonly add: (subscriptionId: string, subscriber: Subscriber) => void
  /** Returns true if the subscription existed. */
  readonly remove: (subscriptionId: string) => boolean
  readonly onEvent: (params: EventParams) => void
  readonly onSynced: (params: Params<typeof ConversationSynced>) => void
  readonly onSkipped: (params: Params<typeof ConversationSkipped>) => void
  readonly onLagged: (params: Params<typeof ConversationLagged>) => void
  readonly onClosed: (params: Params<typeof ConversationClosed>) => void
  /** Ends all subscriptions at the end of the connection. */
  readonly end: () => void
}

class SubscriberTable implements Subscribers {
  private readonly all = new Map<string, Subscriber>()
  private readonly onRemoved: (subscriptionId: string) => void

  constructor(onRemoved: (subscriptionId: string) => void) {
    this.onRemoved = onRemoved
  }

  add(id: string, subscriber: Subscriber): void {
    if (subscriber.isAbandoned) return this.onRemoved(id)
    subscriber.startSubscription(id)
    this.all.set(id, subscriber)
  }

  remove(id: string): boolean {
    return this.all.delete(id)
  }

  onEvent(params: EventParams): void {
    this.deliver(params.subscriptionId, (one) => one.event(params))
  }

  onSkipped({ seq, subscriptionId }: Params<typeof ConversationSkipped>): void {
    this.deliver(subscriptionId, (one) => one.skipped(seq))
  }

  onSynced({ seq, subscriptionId }: Params<typeof ConversationSynced>): void {
    this.deliver(subscriptionId, (one) => {
      one.push({ _tag: "Synced", seq })
      return true
    })
  }

  onLagged({ from, subscriptionId }: Params<typeof ConversationLagged>): void {
    this.deliver(subscriptionId, (one) => {
      one.push({ _tag: "Resumed", from })
      return true
    })
  }

  onClosed({ reason, subscriptionId }: Params<typeof ConversationClosed>): void {
    // The end takes no room: a full subscriber reads its unread messages first.
    this.all.get(subscriptionId)?.close(reason)
  }

  end(): void {
    for (const subscriber of this.all.values()) subscriber.endSubscription()
    this.all.clear()
  }

  /**
   * Delivers a notification to its subscriber. `give` returns false when the subscriber must request
   * the events again.
   */
  private deliver(id: string, give: (subscriber: Subscriber) => boolean): void {
    const subscriber = this.all.get(id)
    if (subscriber === undefined) return
    if (!subscriber.isFull && give(subscriber)) return
    this.all.delete(id)
    subscriber.endSubscription()
    this.onRemoved(id)
  }
}

/** @param onRemoved called with the id of each subscription that is removed on this side */
export const make = (onRemoved: (subscriptionId: string) => void): Subscribers =>
  new SubscriberTable(onRemoved)
