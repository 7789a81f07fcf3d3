/**
 * Sends the deliveries of one listener to its client, in order (L2, L4): withdraws a question before its resolution is
 * sent, and puts one after its event was sent (L7). Keeps the place of the listener up to date.
 */
import type { RateLimits } from "@colloquy/core/ModelClient"
import type { Delivery, EventDelivery } from "@colloquy/core/listeners/Delivery"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type { EventFormat } from "../../events/V1Events.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { ConversationQuestions } from "../../questions/QuestionBroker.ts"
import type { Broadcast } from "./Broadcast.ts"
import type { DeliveryCursor } from "./DeliveryCursor.ts"
import type { Subscription } from "./Subscription.ts"
import {
  type Listening,
  type Notification,
  sendAll,
  type SubscriptionPresenter,
} from "./SubscriptionPresenter.ts"

/** Where the deliveries of a listener are sent, and where they are recorded. */
export interface DeliveryTarget {
  readonly subscription: Subscription
  readonly peer: PeerControl
  readonly presenter: SubscriptionPresenter
  readonly format: EventFormat
  /** Where the events that some listener was sent are recorded. */
  readonly cursor: DeliveryCursor
  /** Where new rate limits are announced. */
  readonly broadcast: Broadcast
  /**
   * True once all conversations end, with their manager: they continue in the next process, so only clients that get every
   * event with its number are sent their end.
   */
  readonly isClosing: Effect.Effect<boolean>
  /** The questions of the conversation, shared by the listeners of the connection. */
  readonly questions: ConversationQuestions
}

const listOf = (one: Notification | undefined): ReadonlyArray<Notification> =>
  one === undefined ? [] : [one]

/** Sends the deliveries of one attachment to the conversation. Used by one fiber. */
export class DeliverySender {
  private readonly target: DeliveryTarget
  private readonly to: Listening
  /** The client has to be notified of the next `Synced`. */
  private announcesSync: boolean
  /** The listener has been sent everything once. */
  private live = false
  /** Notifications of one method that were not sent yet. */
  private run: Array<Notification> = []
  /** Number of the first event that is neither sent nor in `run`. */
  private next: number

  constructor(target: DeliveryTarget) {
    const { format, subscription } = target
    this.target = target
    this.to = { conversationId: subscription.conversation.id, subscriptionId: subscription.id }
    this.announcesSync = format.all
    this.next = subscription.next
  }

  /** Sends these deliveries, which follow on those before. Resolves when the connection has accepted all of them. */
  send(deliveries: ReadonlyArray<Delivery>): Effect.Effect<void, ConnectionClosed> {
    return Effect.gen({ self: this }, function* () {
      const { broadcast, questions } = this.target
      let limits: RateLimits | undefined
      for (const delivery of deliveries) {
        if (delivery._tag === "Event") {
          const { event } = delivery
          if (event.msg.type === "approval_resolved") {
            yield* this.flush
            yield* questions.withdraw(event.msg.call_id)
          }
          limits = this.newLimits(event) ?? limits
        } else if (delivery._tag === "Ask") {
          yield* this.flush
          yield* questions.put(delivery.event)
        }
        const shown = this.notificationsOf(delivery)
        for (const notification of Effect.isEffect(shown) ? yield* shown : shown) {
          if (this.isOfAnotherMethod(notification)) yield* this.flush
          this.run.push(notification)
        }
        this.advance(delivery)
      }
      yield* this.flush
      if (limits !== undefined) yield* broadcast.limitsChanged(limits)
    })
  }

  /** What the client is notified of that delivery. */
  private notificationsOf(delivery: Delivery): ReturnType<SubscriptionPresenter["event"]> {
    const { format, presenter } = this.target
    switch (delivery._tag) {
      case "Event":
        return delivery.event.msg.type === "shutdown_complete" && !format.all
          ? this.endOf(delivery)
          : presenter.event(this.to, delivery, format)
      case "Ask":
        return []
      case "Lagged":
        return listOf(presenter.lagged(this.to, delivery.from))
      case "Synced":
        return this.announcesSync ? listOf(presenter.synced(this.to, delivery.seq)) : []
    }
  }

  private endOf(delivery: EventDelivery): Effect.Effect<ReadonlyArray<Notification>> {
    const { format, isClosing, presenter } = this.target
    return Effect.flatMap(isClosing, (closing) => {
      const shown = closing ? [] : presenter.event(this.to, delivery, format)
      return Effect.isEffect(shown) ? shown : Effect.succeed(shown)
    })
  }

  private isOfAnotherMethod({ method }: Notification): boolean {
    const [first] = this.run
    return first !== undefined && first.method !== method
  }

  /** Records how far the listener is once the delivery was added. */
  private advance(delivery: Delivery): void {
    if (delivery._tag === "Event") {
      const { msg, seq } = delivery.event
      // A section break may have a number below the first event.
      if (!isEphemeral(msg)) this.next = Math.max(this.next, seq + 1)
    } else if (delivery._tag === "Lagged") {
      this.announcesSync = true
    } else if (delivery._tag === "Synced") {
      this.next = Math.max(this.next, delivery.seq)
      this.announcesSync = false
      this.live = true
    }
  }

  /** The rate limits that the event reports, if they are new to the clients. */
  private newLimits({ msg, seq }: Event): RateLimits | undefined {
    if (msg.type !== "token_count" || !msg.rate_limits) return undefined
    const { conversationId } = this.to
    const { rate_limits: rateLimits } = msg
    const isNew = this.target.cursor.limits({ conversationId, seq, rateLimits, live: this.live })
    return isNew ? rateLimits : undefined
  }

  /** Sends what was added, and records that everything before `next` was sent. */
  private readonly flush: Effect.Effect<void, ConnectionClosed> = Effect.suspend(() => {
    const { cursor, peer, subscription } = this.target
    const { run } = this
    this.run = []
    return Effect.map(sendAll(peer, run) ?? Effect.void, () => {
      subscription.advance(this.next)
      cursor.delivered(subscription.conversation.id, this.next)
    })
  })
}
