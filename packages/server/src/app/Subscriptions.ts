/**
 * The listeners of one connection: each gets every event of its conversation, in order, behind the answer that made it
 * (L2, L4). A client that does not read slows its own listeners alone (L6). What a request causes is told behind its
 * answer: while one is being answered its conversation is held back here.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import type { Listener } from "@colloquy/core/Listener"
import type { Answers } from "@colloquy/core/Approval"
import type { RateLimits } from "@colloquy/core/ModelClient"
import type { Delivery } from "@colloquy/core/Outbox"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import {
  ConversationClosed,
  ConversationLagged,
  ConversationSynced,
  type EventParams,
  eventNotification,
} from "@colloquy/protocol/app/Events"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { PeerControl } from "../Peer.ts"
import type { Audience } from "./Audience.ts"
import type { Heard } from "./Heard.ts"
import type { Holds } from "./Holds.ts"
import type { Desk, Questions } from "./Questions.ts"
import { advance, settled, type Subscription, told } from "./Subscription.ts"
import { subscriptionId } from "./SubscriptionId.ts"
import { toldMsg, type Wants } from "./ToldEvents.ts"

interface AddOptions {
  readonly conversation: Conversation
  readonly peer: PeerControl
  readonly raw: boolean
  /** The last event that the client has. */
  readonly after?: number
}

interface Added {
  readonly id: string
  /** Begins to tell. */
  readonly begin: Effect.Effect<void>
  /** The answer was not accepted: forgets it, unless it has begun. */
  readonly abandon: () => void
}

export interface Subscriptions {
  /** Listens from now on; nothing is told before `begin`. */
  readonly add: (options: AddOptions) => Effect.Effect<Added, AttachError>
  /** Returns when nothing of it follows any more; false for one that is not there. */
  readonly remove: (id: string) => Effect.Effect<boolean>
  /** Waits until every listener of that conversation has been told of that event. */
  readonly told: (conversationId: string, seq: number) => Effect.Effect<void>
}

export interface SubscriptionsOptions {
  /** Of the connection. */
  readonly scope: Scope.Scope
  readonly heard: Heard
  readonly audience: Audience
  /** All conversations end, with their manager. */
  readonly isEnding: Effect.Effect<boolean>
  /** By conversations. */
  readonly holds: Holds
  readonly questions: Questions
  readonly answers: () => Answers | undefined
}

interface Teller {
  readonly subscription: Subscription
  readonly peer: PeerControl
  readonly heard: Heard
  readonly audience: Audience
  readonly wants: Wants
  readonly desk: Desk
}

/** Where a listener is in the log of its conversation. */
interface Progress {
  /** The client waits for `conversationSynced`. */
  synced: boolean
  /** It was told of everything once. */
  live: boolean
}

/** Tells of deliveries in order; events of one type that follow on each other, as deltas do, go together. */
const tell = Effect.fnUntraced(function* (
  { audience, desk, heard, peer, subscription, wants }: Teller,
  deliveries: ReadonlyArray<Delivery>,
  progress: Progress,
): Effect.fn.Return<void, ConnectionClosed> {
  const named = {
    conversationId: subscription.conversation.id,
    subscriptionId: subscription.id,
  }
  let run: Array<EventParams> = []
  let next = subscription.next
  let news: RateLimits | undefined
  const flush = Effect.suspend(() => {
    const [first] = run
    const sent =
      first === undefined ? Effect.void : peer.notify(eventNotification(typeOf(first)), run)
    return Effect.map(sent, () => {
      run = []
      advance(subscription, next)
      heard.told(subscription.conversation.id, next)
    })
  })
  const typeOf = ({ msg }: EventParams) => msg.type as Event["msg"]["type"]
  for (const delivery of deliveries) {
    if (delivery._tag === "Event") {
      const { id, msg, seq } = delivery.event
      if (msg.type === "approval_resolved") {
        yield* flush
        yield* desk.over(msg.call_id)
      }
      if (msg.type === "token_count" && msg.rate_limits) {
        const told = { ...named, seq, rateLimits: msg.rate_limits, live: progress.live }
        if (heard.limits(told)) news = msg.rate_limits
      }
      const told = toldMsg(msg, wants)
      if (told !== undefined) {
        if (run[0] !== undefined && typeOf(run[0]) !== told.type) yield* flush
        run.push({ id, msg: told, ...named, seq })
      }
      next = isEphemeral(msg) ? next : seq + 1
      continue
    }
    yield* flush
    if (delivery._tag === "Ask") yield* desk.put(delivery.event)
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

export const make = ({
  answers: answersOf,
  audience,
  heard,
  holds,
  isEnding,
  questions,
  scope: connectionScope,
}: SubscriptionsOptions): Subscriptions => {
  const all = new Map<string, Subscription>()
  const follow = (
    teller: Teller,
    listener: Listener,
    progress: Progress,
  ): Effect.Effect<never, ConnectionClosed | Cause.Done> =>
    listener.take.pipe(
      Effect.tap(() => holds.gate(teller.subscription.conversation.id)),
      Effect.flatMap((deliveries) => tell(teller, deliveries, progress)),
      Effect.forever,
    )

  /** What ends with the manager goes on with the next one. */
  const tellEnd = (peer: PeerControl, { conversation, id }: Subscription) =>
    Effect.flatMap(isEnding, (ending) =>
      ending
        ? Effect.void
        : peer.notify(ConversationClosed, [
            { conversationId: conversation.id, subscriptionId: id },
          ]),
    )

  const end = (subscription: Subscription) =>
    Effect.suspend(() => {
      advance(subscription, Number.POSITIVE_INFINITY)
      return Scope.close(subscription.scope, Exit.void)
    })

  const allSettled = Effect.suspend(() =>
    Effect.forEach(
      [...all.values()].filter(({ begun }) => begun),
      settled,
      { concurrency: "unbounded", discard: true },
    ),
  )

  const add: Subscriptions["add"] = Effect.fnUntraced(function* ({
    after,
    conversation,
    peer,
    raw,
  }) {
    const fork = Effect.runForkWith(yield* Effect.context())
    const scope = yield* Scope.fork(connectionScope)
    const from = after === undefined ? heard.from(conversation.id) : after + 1
    const answers = answersOf()
    const listener = yield* conversation
      .attach({
        ...(answers === undefined ? {} : { answers }),
        ...(from === undefined ? {} : { from }),
      })
      .pipe(
        Scope.provide(scope),
        Effect.onError(() => Scope.close(scope, Exit.void)),
      )
    const desk = yield* Scope.provide(questions.of(conversation, peer), scope)
    const id = yield* subscriptionId
    const subscription: Subscription = {
      id,
      conversation,
      scope,
      next: from ?? 0,
      begun: false,
      waiters: [],
    }
    all.set(id, subscription)
    peer.outlast?.(allSettled)
    heard.enter(conversation.id)
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => heard.leave(conversation.id)),
    )
    const wants = { raw, all: after !== undefined }
    const work = follow({ subscription, peer, heard, audience, wants, desk }, listener, {
      synced: after !== undefined,
      live: false,
    }).pipe(
      Effect.catchTags({
        // The conversation has ended; the subscription stays until it is removed.
        Done: () =>
          Effect.andThen(
            wants.all ? tellEnd(peer, subscription) : Effect.void,
            Effect.sync(() => advance(subscription, Number.POSITIVE_INFINITY)),
          ),
      }),
      Effect.catchTag("ConnectionClosed", ({ reason }) =>
        Effect.andThen(
          Effect.logDebug(`a listener ended: ${reason}`),
          Effect.sync(() => advance(subscription, Number.POSITIVE_INFINITY)),
        ),
      ),
    )
    return {
      id,
      begin: Effect.suspend(() => {
        subscription.begun = true
        return Effect.asVoid(Effect.forkIn(work, scope, { startImmediately: true }))
      }),
      abandon: () => {
        if (subscription.begun) return
        all.delete(id)
        fork(end(subscription))
      },
    }
  }, Effect.uninterruptible)

  return {
    add,
    remove: (id) =>
      Effect.suspend(() => {
        const subscription = all.get(id)
        if (subscription === undefined) return Effect.succeed(false)
        all.delete(id)
        return Effect.as(end(subscription), true)
      }),
    told: (conversationId, seq) =>
      Effect.forEach(
        [...all.values()].filter(
          ({ begun, conversation }) => conversation.id === conversationId && begun,
        ),
        (one) => told(one, seq),
        { discard: true },
      ),
  }
}
