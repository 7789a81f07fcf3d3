/** How a dialect tells that the sender of a request no longer wants its answer: one notification, in either direction. */
import { notificationText, type RequestId } from "@colloquy/protocol/JsonRpc"
import { codecOf, type Method, type Params } from "@colloquy/protocol/Method"
import * as Result from "effect/Result"

export interface Cancel {
  /** The wire name of the notification. */
  readonly method: string
  /** The notification that cancels the request with this id. */
  readonly text: (id: RequestId) => string
  /** The request that incoming params cancel; `undefined` when they do not fit their schema. */
  readonly idOf: (params: unknown) => RequestId | undefined
}

export const make = <N extends Method>(
  notification: N,
  options: {
    readonly params: (id: RequestId) => Params<N>
    readonly id: (params: Params<N>) => RequestId
  },
): Cancel => {
  const codec = codecOf(notification)
  return {
    method: notification._tag,
    text: (id) =>
      notificationText(
        notification._tag,
        Result.getOrThrow(codec.encodeParams(options.params(id))),
      ),
    idOf: (params) => {
      const decoded = codec.decodeParams(params)
      return Result.isSuccess(decoded) ? options.id(decoded.success as Params<N>) : undefined
    },
  }
}
