/**
 * The notifications of a `conversationStream`: all events so far, then each live event in a notification named after its
 * type, then the end of the stream. There is one definition per event type; they are not methods of the dialect, because no
 * client sends or declares them. The wire: packages/docs/wire/codex-mcp.md.
 */
import * as Schema from "effect/Schema"
import { AnyEventMsg, type EventMsg, eventTypes } from "../EventMsg.ts"
import { lazily } from "../internal/Lazily.ts"
import { RequestId } from "../JsonRpc.ts"
import { notification } from "../Method.ts"

const StreamMeta = Schema.Struct({
  conversationId: Schema.optionalKey(Schema.String),
  /** Id of the `conversationStream` call. */
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
    unchecked: true,
    since: "0.20",
    doc: "An event of a streamed conversation, as it happens.",
  })

/** Made with the first stream: most processes have none. */
const liveEvents = lazily(() => new Map(eventTypes.map((type) => [type, define(type)])))

/** The notification for live events of a type. */
export const liveEvent = (type: EventMsg["type"]) => liveEvents().get(type) ?? define(type)
