/**
 * The `PubSub` of one conversation: created with its first listener and released with its last. The conversation's fiber
 * alone publishes to it, what one commit appended to the log as one message, so that a listener gets all of it or none.
 * It is unbounded, because publishing must never wait; what it holds is bounded by `Listeners`, which drops every
 * subscription that has fallen behind (L6). All listeners share its messages: an event is held once, however many have
 * not read it yet.
 *
 * It is the message store of Effect's `PubSub` (`PubSub.Atomic`) and its subscriptions (`PubSub.BackingSubscription`)
 * without the layer for waiting around them: that layer costs every idle conversation with a listener 3 KB in scopes,
 * latches and maps, where a listener here waits with one callback (`SubscribedListener.ts`), and it hands a message to
 * the fiber that waits, which could be interrupted before it uses it.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as PubSub from "effect/PubSub"
import type { EventLog } from "../log/EventLog.ts"
import { addTo, nothingPublished, type Published } from "./Backlog.ts"
import type { ListenerEnd } from "./Listener.ts"

/** What one commit appended to the log; never empty. */
export type Batch = ReadonlyArray<Event>

/** The `PubSub` of one conversation. */
export class Publisher {
  /** Totals of what was published so far. Replaced, never changed: listeners keep the one of their last take. */
  published: Published = nothingPublished
  /** How the conversation ended; undefined while it has not. */
  end: ListenerEnd | undefined
  /** Where the events are that were published before a listener subscribed. */
  readonly log: EventLog
  private last: Event | undefined
  private readonly pubsub = PubSub.makeAtomicUnbounded<Batch>()

  /** For a conversation whose durable events are in `log`. */
  constructor(log: EventLog, end?: ListenerEnd) {
    this.log = log
    this.end = end
  }

  /** Subscribes to what is published from now on, until `unsubscribe`. */
  subscribe(): PubSub.PubSub.BackingSubscription<Batch> {
    return this.pubsub.subscribe()
  }

  /** Publishes a batch that is not empty. Never waits, and wakes no listener. */
  publish(batch: Batch): void {
    this.published = addTo(this.published, this.last, batch)
    this.last = batch.at(-1)
    this.pubsub.publish(batch)
  }
}
