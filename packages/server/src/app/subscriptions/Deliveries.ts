/**
 * What a listener's client is sent of its deliveries, in order (L2, L4). A client that named the last event it has is sent
 * the number of every event that is kept, also of those whose contents it is not sent: a number that is missing is lost.
 * A client of the original's is sent no numbers.
 */
import type { RateLimits } from "@colloquy/core/ModelClient"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import {
  ConversationLagged,
  ConversationSkipped,
  ConversationSynced,
  type EventParams,
  eventNotification,
} from "@colloquy/protocol/app/Events"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { Broadcast } from "./Broadcast.ts"
import type { DeliveryCursor } from "./DeliveryCursor.ts"
import type { ConversationQuestions } from "../../questions/QuestionBroker.ts"
import { advance, type Subscription } from "./Subscription.ts"
import { appServerEvent, type EventFormat } from "../../events/V1Events.ts"

export interface Teller {
  readonly subscription: Subscription
  readonly peer: PeerControl
  readonly heard: DeliveryCursor
  readonly audience: Broadcast
  readonly wants: EventFormat
  /** The questions of the conversation, shared by the listeners of the connection. */
  readonly questions: ConversationQuestions
}

/** Where a listener is in the log of its conversation. */
export interface Progress {
  /** The client waits for `conversationSynced`. */
  synced: boolean
  /** It was sent everything once. */
  live: boolean
}

const typeOf = ({ msg }: EventParams) => msg.type as Event["msg"]["type"]

/** Notifications of one method that follow on each other, as deltas do, are sent together. */
class Run {
  private events: Array<EventParams> = []
  private skipped: Array<Params<typeof ConversationSkipped>> = []
  private readonly peer: PeerControl

  constructor(peer: PeerControl) {
    this.peer = peer
  }

  /** True where an event of that type, or undefined for a skipped one, is of another method than the run. */
  ends(type: string | undefined): boolean {
    const [first] = this.events
    return first === undefined
      ? this.skipped.length > 0 && type !== undefined
      : typeOf(first) !== type
  }

  add(event: EventParams): void {
    this.events.push(event)
  }

  skip(skipped: Params<typeof ConversationSkipped>): void {
    this.skipped.push(skipped)
  }

  get send(): Effect.Effect<void, ConnectionClosed> {
    return Effect.suspend(() => {
      const { events, skipped } = this
      const [first] = events
      this.events = []
      this.skipped = []
      if (first !== undefined) return this.peer.notify(eventNotification(typeOf(first)), events)
      return skipped.length === 0 ? Effect.void : this.peer.notify(ConversationSkipped, skipped)
    })
  }
}

/** Sends what follows on what was sent before. */
export const tell = Effect.fnUntraced(function* (
  { audience, heard, peer, questions, subscription, wants }: Teller,
  deliveries: ReadonlyArray<Delivery>,
  progress: Progress,
): Effect.fn.Return<void, ConnectionClosed> {
  const named = {
    conversationId: subscription.conversation.id,
    subscriptionId: subscription.id,
  }
  const run = new Run(peer)
  let next = subscription.next
  let news: RateLimits | undefined
  const flush = Effect.map(run.send, () => {
    advance(subscription, next)
    heard.told(subscription.conversation.id, next)
  })
  for (const delivery of deliveries) {
    if (delivery._tag === "Event") {
      const { id, msg, seq } = delivery.event
      if (msg.type === "approval_resolved") {
        yield* flush
        yield* questions.withdraw(msg.call_id)
      }
      if (msg.type === "token_count" && msg.rate_limits) {
        const told = { ...named, seq, rateLimits: msg.rate_limits, live: progress.live }
        if (heard.limits(told)) news = msg.rate_limits
      }
      const told = appServerEvent(msg, wants)
      const numbered = wants.all ? { ...named, seq } : named
      if (run.ends(told?.type)) yield* flush
      if (told !== undefined) run.add({ id, msg: told, ...numbered })
      else if (wants.all && !isEphemeral(msg)) run.skip({ ...named, seq })
      next = isEphemeral(msg) ? next : seq + 1
      continue
    }
    yield* flush
    if (delivery._tag === "Ask") yield* questions.put(delivery.event)
    else if (delivery._tag === "Lagged") {
      progress.synced = true
      yield* peer.notify(ConversationLagged, [{ ...named, from: delivery.from }])
    } else {
      next = Math.max(next, delivery.seq)
      if (progress.synced) {
        yield* peer.notify(ConversationSynced, [{ ...named, seq: delivery.seq }])
      }
      progress.synced = false
      progress.live = true
    }
  }
  yield* flush
  if (news !== undefined) yield* audience.limitsChanged(news)
})
