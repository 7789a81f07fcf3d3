/**
 * The listeners of one conversation: attaches them, up to a limit, publishes to them, and drops the subscription of each
 * that falls behind its limits.
 *
 * Publishing puts one reference into the `PubSub`: it never waits, copies nothing and runs no code of a listener (L6). It
 * happens before anything else can run after the append to the log, so that a listener that attaches finds all of a batch
 * in the log or none of it (L4).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  type ConversationUnavailable,
  EventsFromFuture,
  TooManyListeners,
} from "../ConversationErrors.ts"
import type { Answers } from "../approvals/Approval.ts"
import { answersOf } from "../approvals/Elicitation.ts"
import type { EventLog } from "../log/EventLog.ts"
import { defaultListenerLimits, type ListenerLimits } from "./Backlog.ts"
import type { Listener, ListenerEnd } from "./Listener.ts"
import { Publisher } from "./Publisher.ts"
import { SubscribedListener } from "./SubscribedListener.ts"

/** Bounds what a client costs that attaches in a loop; each listener has a bounded backlog. */
const defaultMaxListeners = 1024

const none: ReadonlyArray<SubscribedListener> = []

/** How a client attaches; see `Conversation.attach`. */
export interface AttachOptions {
  /** Number of the first durable event to deliver; default: that of the next event. */
  readonly from?: number
  /**
   * True: the client has nothing of the texts that were streamed before `from`, also where it has read the durable events. It
   * then gets the finished sections of a reasoning summary that is not recorded yet as well, each as one delta and with the
   * section break that ends it, whose number is below `from`, before every other event. Default: true where `from` is absent;
   * a client that names an event has got the texts that ended before it.
   */
  readonly lacksTexts?: boolean
  /** Default: 1,024 events or 4 MiB of deltas. */
  readonly limits?: ListenerLimits
  /** Which questions the listener can answer; default: none. */
  readonly answers?: boolean | Answers
}

/** How a client follows a conversation. */
export interface FollowOptions {
  /** Number of the first durable event to deliver; a negative number counts as 0. */
  readonly from: number
  /** Which questions the client can answer, once this process has the conversation; default: none. */
  readonly answers?: NonNullable<AttachOptions["answers"]>
}

/** The listeners of one conversation. */
export class Listeners {
  /** Replaced, never changed: most conversations have none or one, which a set would triple in size. */
  private all = none
  /** Exists while `all` is not empty. */
  private publisher: Publisher | undefined
  /** How the conversation ended; undefined while it has not. */
  private ended: ListenerEnd | undefined
  private readonly log: EventLog
  private readonly maxListeners: number

  constructor(log: EventLog, maxListeners = defaultMaxListeners) {
    this.log = log
    this.maxListeners = maxListeners
  }

  /** Number of listeners that are attached. */
  get size(): number {
    return this.all.length
  }

  /** Events that the slowest of them has not read; 0 without listeners. */
  get longestLag(): number {
    return this.all.reduce((longest, { lag }) => Math.max(longest, lag), 0)
  }

  /** Publishes the events that were appended to the log since the last call, in the same step as the append. */
  publish(events: ReadonlyArray<Event>): void {
    if (this.publisher === undefined || events.length === 0) return
    this.publisher.publish(events)
    for (const listener of this.all) listener.published()
  }

  /**
   * Publishes nothing more. Listeners get what is left and then the end: `because` where nothing can be recorded any more,
   * else `Done`. A listener that attaches later gets the log, and then the same end.
   */
  end(because?: ConversationUnavailable): void {
    this.ended = because ?? Cause.Done()
    if (this.publisher !== undefined) this.publisher.end = this.ended
    for (const listener of this.all) listener.published()
  }

  /** Attaches until the scope closes. Fails, and attaches nothing, beyond the next event or the limit. */
  attach(
    options?: AttachOptions,
  ): Effect.Effect<Listener, EventsFromFuture | TooManyListeners, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => this.enter(options)),
      (listener) => Effect.sync(() => this.leave(listener)),
    )
  }

  /** Attaches until `leave`. Fails, and attaches nothing, as `attach` does. */
  enter(
    options: AttachOptions | undefined,
  ): Effect.Effect<SubscribedListener, EventsFromFuture | TooManyListeners> {
    const {
      answers,
      from = this.log.seq,
      lacksTexts = options?.from === undefined,
      limits = defaultListenerLimits,
    } = options ?? {}
    if (!Number.isInteger(from) || from > this.log.seq) {
      return Effect.fail(new EventsFromFuture({ from, next: this.log.seq }))
    }
    if (this.size >= this.maxListeners) {
      return Effect.fail(new TooManyListeners({ maxListeners: this.maxListeners }))
    }
    const publisher = (this.publisher ??= new Publisher(this.log, this.ended))
    const asked = answersOf(answers)
    const listener = new SubscribedListener(publisher, limits, from, asked, lacksTexts)
    this.all = this.all.concat(listener)
    return Effect.succeed(listener)
  }

  /** Detaches a listener that `enter` attached. */
  leave(listener: SubscribedListener): void {
    this.all = this.all.filter((one) => one !== listener)
    if (this.size === 0) this.publisher = undefined
    listener.close()
  }
}
