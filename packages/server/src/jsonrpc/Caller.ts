/** What the handler of a message gets beside its params: the peer that sent it, and the request that it is part of. */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError, RequestId } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { RequestGate } from "./AnswerGate.ts"

/**
 * What a handler can do with the peer of its connection. What the handler of a request sends belongs to that request until
 * the response is sent, and to no request afterwards (`SendOptions.relatedTo`).
 */
export interface PeerControl {
  /** Sends notifications in order. Returns when they are accepted, which waits while the peer does not read. */
  readonly notify: <M extends Rpc.Any>(
    method: M,
    params: ReadonlyArray<Params<M>>,
  ) => Effect.Effect<void, ConnectionClosed>
  /**
   * Sends a request and waits for its response. Fails with the error of the response, or with `ConnectionClosed` when the
   * connection ends first. Interrupting it withdraws the request.
   */
  readonly request: <M extends Rpc.Any>(
    method: M,
    params: Params<M>,
  ) => Effect.Effect<ResultOf<M>, JsonRpcError | ConnectionClosed>
  /**
   * Cancels a request of the peer. It gets no response, or this error once its handler has ended. Ids that are unknown or
   * have ended are ignored.
   */
  readonly cancel: (id: RequestId, answer?: JsonRpcError) => Effect.Effect<void>
  /** Returns at the end of input, when work without an end of its own has nothing left to wait for. */
  readonly ended?: Effect.Effect<void>
  /**
   * Has the end of the connection wait for this work, after the requests in flight, within the rest of the shutdown grace.
   * It is not waited for when the connection breaks. The same work given twice counts once.
   */
  readonly outlast?: (work: Effect.Effect<void>) => void
  /** Waits while a request whose response is not accepted yet holds this key (`AnswerGate`). */
  readonly passed: (key: string) => Effect.Effect<void>
}

/** The sender of a notification. */
export interface NotificationCaller {
  readonly peer: PeerControl
}

/** The sender of a request. */
export interface RequestCaller extends NotificationCaller {
  readonly requestId: RequestId
  /** Registers what runs once the response was accepted (L2). */
  readonly afterAnswer: RequestGate["afterAnswer"]
  /** Has notifications under a key wait for the response (L2). */
  readonly hold: RequestGate["hold"]
  /**
   * Has the response written apart from everything that was sent before (`Connection.apart`): for notifications that the
   * peer can only use before it has the response.
   */
  readonly separate: () => void
}
