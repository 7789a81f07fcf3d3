/**
 * What a `conversationStream` tells: everything so far, then each event under its bare type, then that it is over (§2.3,
 * §2.4). One definition per type of event, made when it is first sent; no type is a method of the dialect.
 */
import * as Schema from "effect/Schema"
import { AnyEventMsg, type EventMsg } from "../EventMsg.ts"
import { RequestId } from "../JsonRpc.ts"
import { notification } from "../Method.ts"

const StreamMeta = Schema.Struct({
  conversationId: Schema.optionalKey(Schema.String),
  /** Of the `conversationStream` call. */
  requestId: Schema.optionalKey(RequestId),
})

const StreamEvent = Schema.Struct({ msg: AnyEventMsg })

/** Parameters of `notifications/initial_state`. */
export const InitialStateParams = Schema.Struct({
  _meta: Schema.optionalKey(StreamMeta),
  initial_state: Schema.Struct({ events: Schema.Array(StreamEvent) }),
})

/** Parameters of `notifications/stream_disconnected`. */
export const StreamDisconnectedParams = Schema.Struct({
  _meta: Schema.optionalKey(StreamMeta),
  reason: Schema.String,
})

const LiveEventParams = Schema.Struct({
  _meta: Schema.optionalKey(StreamMeta),
  msg: AnyEventMsg,
})

const define = (type: string) =>
  notification(type, {
    params: LiveEventParams,
    since: "0.20",
    doc: "An event of a streamed conversation, as it happens.",
  })

const known = new Map<string, ReturnType<typeof define>>()

/** The notification that carries live events of that type. */
export const liveEvent = (type: EventMsg["type"]) => {
  const found = known.get(type) ?? define(type)
  known.set(type, found)
  return found
}
