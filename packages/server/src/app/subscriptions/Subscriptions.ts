/**
 * The listeners of one connection: each gets every event of its conversation, in order, behind the answer that made it
 * (L2, L4). A client that does not read slows its own listeners alone (L6). What a request causes is told behind its
 * answer: while one is being answered its conversation is held back here.
 *
 * Where nothing of a conversation can be recorded any more its listeners are sent the reason, and go on behind the last
 * event they were sent as soon as the conversation is used again, whoever uses it (L5).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError, ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { runBatches } from "@colloquy/core/listeners/Listening"
import type { Answers } from "@colloquy/core/approvals/Approval"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { ConversationClosed } from "@colloquy/protocol/app/Events"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { Broadcast } from "./Broadcast.ts"
import { type Progress, tell, type Teller } from "./Deliveries.ts"
import type { DeliveryCursor } from "./DeliveryCursor.ts"
import type { AnswerGate } from "./AnswerGate.ts"
import type { ConversationQuestions } from "../../questions/QuestionBroker.ts"
import { lose, over, settled, type Subscription, told } from "./Subscription.ts"
import { subscriptionId } from "./SubscriptionId.ts"
import type { EventFormat } from "../../events/V1Events.ts"

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
  readonly heard: DeliveryCursor
  readonly audience: Broadcast
  /** All conversations end, with their manager. */
  readonly isClosing: Effect.Effect<boolean>
  /** By conversations. */
  readonly holds: AnswerGate
  /** The questions of a conversation, presented to the client once for all listeners of the connection. */
  readonly questions: (
    conversation: Conversation,
    peer: PeerControl,
  ) => Effect.Effect<ConversationQuestions, never, Scope.Scope>
  readonly answers: () => Answers | undefined
}

/** One life of a conversation, as a listener attends it: attached to it, and asked its questions. */
interface Attending {
  readonly listener: Listener
  readonly teller: Teller
  readonly scope: Scope.Closeable
}

export const make = ({
  answers: answersOf,
  audience,
  heard,
  holds,
  isClosing,
  questions,
  scope: connectionScope,
}: SubscriptionsOptions): Subscriptions => {
  const all = new Map<string, Subscription>()

  const follow = (
    { listener, teller }: Attending,
    progress: Progress,
  ): Effect.Effect<never, ConnectionClosed | ListenerEnd> =>
    runBatches(listener, (deliveries) =>
      Effect.andThen(
        holds.gate(teller.subscription.conversation.id),
        tell(teller, deliveries, progress),
      ),
    )

  const notifyEnd = (peer: PeerControl, { conversation, id }: Subscription, reason?: string) =>
    peer.notify(ConversationClosed, [
      {
        conversationId: conversation.id,
        subscriptionId: id,
        ...(reason === undefined ? {} : { reason }),
      },
    ])

  /** What ends with the manager goes on with the next one. */
  const tellEnd = (peer: PeerControl, subscription: Subscription) =>
    Effect.flatMap(isClosing, (closing) => (closing ? Effect.void : notifyEnd(peer, subscription)))

  const end = (subscription: Subscription) =>
    Effect.suspend(() => {
      over(subscription)
      return Scope.close(subscription.scope, Exit.void)
    })

  const allSettled = Effect.suspend(() =>
    Effect.forEach(
      [...all.values()].filter(({ begun }) => begun),
      settled,
      { concurrency: "unbounded", discard: true },
    ),
  )

  /** Attaches to the conversation as it is now; counts as one of its listeners until the scope closes. */
  const attend = Effect.fnUntraced(function* (
    subscription: Subscription,
    peer: PeerControl,
    wants: EventFormat,
    from: number | undefined,
  ): Effect.fn.Return<Attending, AttachError> {
    const { conversation } = subscription
    const scope = yield* Scope.fork(subscription.scope)
    const answers = answersOf()
    return yield* Effect.gen(function* () {
      const listener = yield* conversation.attach({
        ...(answers === undefined ? {} : { answers }),
        ...(from === undefined ? {} : { from }),
      })
      heard.enter(conversation.id)
      yield* Effect.addFinalizer(() => Effect.sync(() => heard.leave(conversation.id)))
      const shared = yield* questions(conversation, peer)
      const teller: Teller = { subscription, peer, heard, audience, wants, questions: shared }
      return { listener, teller, scope }
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void)),
    )
  }, Effect.uninterruptible)

  /** Sends what the conversation delivers until it ends, over as many lives of it as there are. */
  const work = (attending: Attending): Effect.Effect<void, ConnectionClosed> => {
    const { peer, subscription, wants } = attending.teller
    const { conversation } = subscription
    const again: Effect.Effect<void, ConnectionClosed> = conversation.loaded.pipe(
      Effect.andThen(Effect.suspend(() => attend(subscription, peer, wants, subscription.next))),
      Effect.flatMap((attended) => {
        subscription.lost = false
        return work(attended)
      }),
      Effect.catchTags({
        // It was removed: its client knows that nothing of it follows.
        ConversationClosed: () => Effect.void,
        ConversationUnavailable: () => again,
        EventsFromFuture: ({ message }) => notifyEnd(peer, subscription, message),
        TooManyListeners: ({ message }) => notifyEnd(peer, subscription, message),
      }),
    )
    const lost = ({ message }: ConversationUnavailable) =>
      Effect.suspend(() => {
        lose(subscription)
        // Withdraws its open questions; what nobody was sent waits for the next listener.
        return Scope.close(attending.scope, Exit.void).pipe(
          Effect.andThen(notifyEnd(peer, subscription, message)),
          Effect.andThen(again),
        )
      })
    return follow(attending, { synced: wants.all, live: false }).pipe(
      Effect.catchTags({
        // The conversation has ended; the subscription stays until it is removed.
        Done: () => (wants.all ? tellEnd(peer, subscription) : Effect.void),
        ConversationUnavailable: lost,
      }),
    )
  }

  const add: Subscriptions["add"] = Effect.fnUntraced(function* ({
    after,
    conversation,
    peer,
    raw,
  }) {
    const fork = Effect.runForkWith(yield* Effect.context())
    const scope = yield* Scope.fork(connectionScope)
    const from = after === undefined ? heard.from(conversation.id) : after + 1
    const id = yield* subscriptionId
    const subscription: Subscription = {
      id,
      conversation,
      scope,
      next: from ?? 0,
      begun: false,
      over: false,
      lost: false,
      waiters: [],
    }
    const wants = { raw, all: after !== undefined }
    const attending = yield* attend(subscription, peer, wants, from).pipe(
      Effect.onError(() => Scope.close(scope, Exit.void)),
    )
    all.set(id, subscription)
    peer.outlast?.(allSettled)
    const working = work(attending).pipe(
      Effect.catchTag("ConnectionClosed", ({ reason }) =>
        Effect.logDebug(`a listener ended: ${reason}`),
      ),
      Effect.andThen(Effect.sync(() => over(subscription))),
    )
    return {
      id,
      begin: Effect.suspend(() => {
        subscription.begun = true
        return Effect.asVoid(Effect.forkIn(working, scope, { startImmediately: true }))
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
