/**
 * One listener of a conversation: a `Subscription` to its `PubSub`, from which the code that serves the listener pulls.
 * There is no fiber and no queue between: publishing never waits and runs none of the listener's code (L6).
 *
 * ```
 *            attach from n
 *                 │
 *                 ▼         the log is read to its end
 *            replaying ─────────────────────────────────▶ live
 *                 ▲                                         │
 *                 └─────────────────────────────────────────┘
 *                    beyond its limits: the conversation drops
 *                    the subscription; the next take says `Lagged`
 *
 * either one, everything delivered and the conversation over ──▶ ended
 * either one, its scope closed                               ──▶ closed
 * ```
 *
 * While it replays it holds nothing but a number in the event log. Once it has read the log to its end it subscribes; what
 * had been published until then is in the log, what follows is in the subscription, so it delivers every durable event once
 * and in order (L4). Each replay ends with one delta per text in progress and one `Synced`. A section of reasoning that is not
 * recorded yet is one delta before the break that ends it; a listener that has nothing of such sections gets those before its
 * first event as well.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type * as PubSub from "effect/PubSub"
import type { Answers } from "../approvals/Approval.ts"
import { takes } from "../approvals/Elicitation.ts"
import { questionKindOf } from "../question/ApprovalEvents.ts"
import {
  coalesceAfter,
  coalesced,
  exceeds,
  isBehind,
  type ListenerLimits,
  type Published,
} from "./Backlog.ts"
import type { Delivery } from "./Delivery.ts"
import type { Listener } from "./Listener.ts"
import type { Batch, Publisher } from "./Publisher.ts"

/** Durable events read from the log at a time while replaying. */
const replayBatch = 256

type Batches = ReadonlyArray<Batch>

const none: Batches = []

/** A class, so that all listeners share its methods; closures would be created for every listener. */
export class SubscribedListener implements Listener {
  /** Exists while the listener is live, and only then. */
  private subscription: PubSub.PubSub.BackingSubscription<Batch> | undefined
  /** Events that were pulled (coalesced, or on close) and are not read yet. They precede those in the subscription. */
  private left = none
  /** Total number of published events at the last pull from the subscription. */
  private pulledAt = 0
  /** Resumes the fiber that waits in `take`. */
  private wake: (() => void) | undefined
  /** Number of the next durable event to deliver. */
  private next: number
  /** The totals of the publisher at the last take. */
  private read: Published
  /** `lagged`: it replays from the log, and starts with `Lagged`. */
  private state: "replaying" | "lagged" | "live" | "closed" = "replaying"
  private readonly publisher: Publisher
  private readonly limits: ListenerLimits
  private readonly answers: Answers | undefined
  /** The sections before `next` that are not recorded yet are to be delivered, before anything else. */
  private lacksSections: boolean

  /**
   * @param from number of the first durable event to deliver; a negative number counts as 0
   * @param answers which of the conversation's questions the listener is asked; default: none
   * @param lacksTexts true: it has nothing of the texts that were streamed before `from`; default: it has the events before it
   */
  constructor(
    publisher: Publisher,
    limits: ListenerLimits,
    from: number,
    answers?: Answers,
    lacksTexts = false,
  ) {
    this.publisher = publisher
    this.limits = limits
    this.next = Math.max(0, from)
    this.read = publisher.published
    this.answers = answers
    this.lacksSections = lacksTexts
  }

  get take(): Listener["take"] {
    return Effect.suspend(() => this.takeNow())
  }

  /** True where `take` has something to give at once. */
  get isReady(): boolean {
    if (this.left.length > 0 || this.subscription?.isEmpty() === false) return true
    return this.isReplaying
  }

  /** Events that were published and not read: durable ones only, while it replays the log. */
  get lag(): number {
    const { log, published } = this.publisher
    return this.isReplaying ? log.seq - this.next : published.events - this.read.events
  }

  private get isReplaying(): boolean {
    return this.state === "replaying" || this.state === "lagged"
  }

  /**
   * Called after every publication, and when the conversation has ended: drops the subscription once the listener is beyond
   * its limits, and wakes the fiber that waits in `take`.
   */
  published(): void {
    const { limits, publisher, read, subscription } = this
    const { published } = publisher
    if (subscription !== undefined && exceeds(published, read, limits)) {
      this.left = none
      subscription.unsubscribe()
      this.subscription = undefined
      this.state = "lagged"
    } else if (
      subscription !== undefined &&
      isBehind(published, read, limits) &&
      published.events - this.pulledAt > coalesceAfter
    ) {
      this.left = [coalesced(this.pull())]
    }
    const waiting = this.wake
    this.wake = undefined
    waiting?.()
  }

  /** Unsubscribes. What was unread then can still be taken; after that `take` is interrupted. */
  close(): void {
    this.left = this.pull()
    this.subscription?.unsubscribe()
    this.subscription = undefined
    this.state = "closed"
    this.published()
  }

  private takeNow(): Listener["take"] {
    if (this.isReady) {
      return Effect.succeed(this.isReplaying ? this.replay() : this.deliver(this.pull()))
    }
    const { end } = this.publisher
    if (end !== undefined) return Effect.fail(end)
    return this.state === "closed"
      ? Effect.interrupt
      : Effect.flatMap(this.ready, () => this.takeNow())
  }

  private get ready(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      // Something may have been published since `take` looked.
      if (this.isReady || this.publisher.end !== undefined) return resume(Effect.void)
      // With a plain effect the fiber would continue at once, inside the fiber that publishes.
      this.wake = () => resume(Effect.yieldNow)
      return Effect.sync(() => {
        this.wake = undefined
      })
    })
  }

  /** Empties the subscription. */
  private pull(): Batches {
    const { left, subscription } = this
    this.left = none
    this.pulledAt = this.publisher.published.events
    const unread = subscription?.pollUpTo(Infinity) ?? none
    return left.length === 0 ? unread : left.concat(unread)
  }

  private deliveryOf(event: Event): Delivery {
    return { _tag: "Event", event, atMs: this.publisher.log.timeOf(event.seq) }
  }

  private deliver(batches: Batches): ReadonlyArray<Delivery> {
    const { published } = this.publisher
    const events = isBehind(published, this.read, this.limits) ? coalesced(batches) : batches.flat()
    this.read = published
    const deliveries: Array<Delivery> = []
    for (const event of events) {
      deliveries.push(this.deliveryOf(event))
      // A delta carries the number of the durable event before it.
      this.next = event.seq + 1
      if (this.answers !== undefined && this.publisher.log.isOpenQuestion(event)) {
        this.ask(event, this.answers, deliveries)
      }
    }
    return deliveries
  }

  /** The next piece of the log; the last one makes the listener live. */
  private replay(): ReadonlyArray<Delivery> {
    const { log } = this.publisher
    const deliveries: Array<Delivery> = []
    if (this.state === "lagged") deliveries.push({ _tag: "Lagged", from: this.next })
    this.state = "replaying"
    if (this.lacksSections) {
      for (const event of log.sectionsBefore(this.next)) deliveries.push(this.deliveryOf(event))
    }
    this.lacksSections = false
    for (const event of log.slice(this.next, replayBatch)) {
      const section = log.endedBy(event)
      if (section !== undefined) deliveries.push(this.deliveryOf(section))
      deliveries.push(this.deliveryOf(event))
      this.next++
    }
    if (this.next >= log.seq) this.goLive(deliveries)
    return deliveries
  }

  private goLive(deliveries: Array<Delivery>): void {
    const { log } = this.publisher
    for (const event of log.inProgress()) deliveries.push(this.deliveryOf(event))
    deliveries.push({ _tag: "Synced", seq: log.seq })
    if (this.answers !== undefined) {
      for (const event of log.openQuestions()) this.ask(event, this.answers, deliveries)
    }
    this.state = "live"
    this.read = this.publisher.published
    this.pulledAt = this.read.events
    if (this.publisher.end === undefined) this.subscription = this.publisher.subscribe()
  }

  private ask(event: Event, answers: Answers, deliveries: Array<Delivery>): void {
    if (!takes(answers, questionKindOf(event.msg))) return
    deliveries.push({ _tag: "Ask", event })
  }
}
