/**
 * What a dialect with listeners supplies for them: the notifications that they get, and how questions are put to their
 * client. `Subscriptions` decides when each is sent, and knows no name of the wire.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { EventDelivery } from "@colloquy/core/listeners/Delivery"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Params } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { EventFormat } from "../../events/V1Events.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { Present, PresentCall } from "../../questions/QuestionBroker.ts"

/** One notification. Those of the same method that follow on each other are sent together. */
export interface Notification {
  readonly method: Rpc.Any
  readonly params: unknown
}

/** A notification of that method. */
export const notificationOf = <M extends Rpc.Any>(method: M, params: Params<M>): Notification => ({
  method,
  params,
})

/** Sends notifications of one method, in order. Fails when the connection has closed. */
export const sendAll = (
  peer: PeerControl,
  [first, ...rest]: ReadonlyArray<Notification>,
): Effect.Effect<void, ConnectionClosed> | undefined =>
  first === undefined
    ? undefined
    : // The params of each fit its method (`notificationOf`), and all have the same one.
      peer.notify(
        first.method,
        [first, ...rest].map(({ params }) => params as never),
      )

/** The listener that a notification is for. */
export interface Listening {
  readonly conversationId: string
  readonly subscriptionId: string
}

/** See the header. */
export interface SubscriptionPresenter {
  /** What the client of the listener is sent of an event, in the format of the listener; nothing of some. */
  readonly event: (
    to: Listening,
    delivery: EventDelivery,
    format: EventFormat,
  ) => ReadonlyArray<Notification> | Effect.Effect<ReadonlyArray<Notification>>
  /** The listener fell behind: deltas are missing, and every event from the number `from` on follows from the log. */
  readonly lagged: (to: Listening, from: number) => Notification | undefined
  /** Every event before the number `seq` was sent; what follows is live. */
  readonly synced: (to: Listening, seq: number) => Notification | undefined
  /** Nothing follows: the conversation has ended, or `reason` says why its events cannot be delivered now. */
  readonly closed: (to: Listening, reason?: string) => Notification | undefined
  /**
   * Nothing follows: another process has taken the conversation over, as `reason` says. The client is notified
   * of the end of all that has begun, and the listener is removed. Absent: the listener is sent the reason, and continues
   * once this process has the conversation again.
   */
  readonly takenOver?: (to: Listening, reason: string) => Effect.Effect<ReadonlyArray<Notification>>
  /**
   * Nothing follows until the conversation is used again, because nothing of it can be recorded, as `reason` says: the end of
   * what has begun, as it will be read back. Absent: the listener is sent what `closed` gives.
   */
  readonly suspended?: (to: Listening, reason: string) => Effect.Effect<ReadonlyArray<Notification>>
  /** Presents the questions of the conversation to that client. */
  readonly present: (conversation: Conversation, peer: PeerControl) => Present
  /** Has that client run its tools. Absent: the dialect has no such request. */
  readonly presentCall?: (conversation: Conversation, peer: PeerControl) => PresentCall
}
