/**
 * What the handler of a message gets besides its params: the peer that sent it, and control of the message's request.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError, RequestId } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { RequestGate } from "./AnswerGate.ts"

/**
 * What a handler can do with the peer of its connection. Messages that the handler of a request sends belong to that
 * request until the response is sent, and to no request afterwards (`SendOptions.relatedTo`).
 */
export interface PeerControl {
  /** Sends notifications in order. Resolves when they were accepted; waits while the peer does not read. */
  readonly notify: <M extends Rpc.Any>(
    method: M,
    params: ReadonlyArray<Params<M>>,
  ) => Effect.Effect<void, ConnectionClosed>
  /**
   * Sends a request and waits for its response. Fails with the error of the response, or with `ConnectionClosed` when
   * the connection ends first. Interrupting it withdraws the request. `sent` gets the id of the request before it is sent.
   */
  readonly request: <M extends Rpc.Any>(
    method: M,
    params: Params<M>,
    sent?: (id: RequestId) => void,
  ) => Effect.Effect<ResultOf<M>, JsonRpcError | ConnectionClosed>
  /**
   * Cancels a request of the peer. It gets no response, or the given error once its handler has ended. Unknown ids, and
   * those of requests that have ended, are ignored.
   */
  readonly cancel: (id: RequestId, answer?: JsonRpcError) => Effect.Effect<void>
  /** Resolves at the end of input; handlers that would run without end should stop then. */
  readonly ended?: Effect.Effect<void>
  /**
   * Delays the end of the connection until this work completes, after the requests in flight and within the rest of the
   * shutdown grace. A broken connection does not wait for it. Registering the same work twice counts once.
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
  /** Registers an effect that runs once the response was accepted (L2). */
  readonly afterAnswer: RequestGate["afterAnswer"]
  /** Registers what runs when the request has ended, however it ends. */
  readonly atEnd: RequestGate["atEnd"]
  /** Delays notifications under a key until the response was accepted (L2). */
  readonly hold: RequestGate["hold"]
  /**
   * Writes the response separately from everything that was sent before (`Connection.apart`). For notifications that
   * the peer can use only before it has the response.
   */
  readonly separate: () => void
}
