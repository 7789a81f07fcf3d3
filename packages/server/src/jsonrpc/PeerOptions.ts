/** The options of a peer, which its dialect sets: methods, handlers and limits. */
import type { Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError, Request, RequestId } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type { NotificationCaller, PeerControl, RequestCaller } from "./Caller.ts"
import type { Route } from "./Route.ts"

/** What the handler of a method gets besides its params. A method without an error type is a notification. */
type CallerOf<M extends Rpc.Any> = [Rpc.Error<M>] extends [never]
  ? NotificationCaller
  : RequestCaller

/** One handler per method, by name. */
export type PeerHandlers<M extends Rpc.Any> = {
  readonly [R in M as R["_tag"]]: (
    params: Params<R>,
    caller: CallerOf<R>,
  ) => Effect.Effect<ResultOf<R>, Rpc.Error<R>>
}

/** What a peer needs of its dialect. */
export interface PeerOptions<L extends Rpc.Any> {
  readonly connection: Connection
  /** The methods that the peer may call. */
  readonly local: RpcGroup.RpcGroup<L>
  /** Handlers of the notifications, and of the requests that `route` leaves to this table. */
  readonly handlers: Partial<PeerHandlers<L>>
  /** Notifies the peer that a request of this server no longer needs a response. */
  readonly withdraw: (peer: PeerControl, id: RequestId) => Effect.Effect<void, ConnectionClosed>
  /**
   * Largest number of requests served at once; further ones get an error. The same number of responses, and of errors,
   * may wait for a slow reader; then its requests wait too (L6). Default 1,024.
   */
  readonly maxInFlight?: number
  /**
   * Bound on the UTF-16 units of all requests in flight; once reached, further requests get an error. Default 64 Mi.
   */
  readonly maxInFlightChars?: number
  /** The error of a request that is refused by one of these bounds. Default: -32000 with the fault. */
  readonly overloaded?: (fault: string) => JsonRpcError
  /**
   * Returns the route that serves a request instead of the table, an error that rejects it, or undefined to use the
   * table. `batched`: whether the request came in a batch.
   */
  readonly route?: (request: Request, batched: boolean) => Route | JsonRpcError | undefined
  /** Whether an array of messages is accepted now. Default: never. */
  readonly batches?: () => boolean
  /**
   * How long requests in flight, and the work registered with `outlast`, may take after the end of input. Default 500
   * ms, because a client that closed its end waits.
   */
  readonly shutdownGrace?: Duration.Input
  /**
   * Runs after the grace; what was registered with `outlast` is then waited for again, so that it can send what this has
   * caused. Both are bounded. Default: nothing.
   */
  readonly beforeEnd?: Effect.Effect<void>
  /** True: messages have the member `jsonrpc` only when the first message of the peer has it. Default false: always. */
  readonly adaptsEnvelope?: boolean
}
