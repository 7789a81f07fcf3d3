/** The notification with which a dialect cancels a request, in either direction. */
import { notificationText, type RequestId } from "@colloquy/protocol/JsonRpc"
import { codecOf, type Method, type Params } from "@colloquy/protocol/Method"
import * as Result from "effect/Result"

/** How a dialect cancels requests. */
export interface Cancel {
  /** The wire name of the notification. */
  readonly method: string
  /** The JSON text of the notification that cancels the request with this id. */
  readonly text: (id: RequestId) => string
  /**
   * The id of the request that received params cancel; undefined when they do not fit the schema.
   */
  readonly idOf: (params: unknown) => RequestId | undefined
}

/** Derives both directions from the definition of a notification. */
export const make = <N extends Method>(
  notification: N,
  options: {
    /** The params that cancel a request. */
    readonly params: (id: RequestId) => Params<N>
    /** The id of the request that params cancel. */
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
