/** `subscriptions/listen`: one request whose stream carries the notifications that a client asked for (2026-07-28). */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

const Meta = Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))

/** What a client wants to be notified of. */
export const SubscriptionFilter = Schema.Struct({
  toolsListChanged: Schema.optionalKey(Schema.Boolean),
  promptsListChanged: Schema.optionalKey(Schema.Boolean),
  resourcesListChanged: Schema.optionalKey(Schema.Boolean),
  /** URIs of resources. */
  resourceSubscriptions: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Ids of tasks, for the tasks extension. */
  taskIds: Schema.optionalKey(Schema.Array(Schema.String)),
})
/** A decoded `SubscriptionFilter`. */
export type SubscriptionFilter = typeof SubscriptionFilter.Type

/** Subscribes to changes. */
export const SubscriptionsListen = request("subscriptions/listen", {
  params: Schema.Struct({ notifications: SubscriptionFilter, _meta: Meta }),
  result: Schema.Struct({ _meta: Meta }),
  since: "2026-07-28",
  doc: "Subscribes to changes. The notifications are sent on the stream of this request until the client or the server ends it; the response is the end.",
})

/** Confirms a subscription. */
export const SubscriptionsAcknowledged = notification("notifications/subscriptions/acknowledged", {
  params: Schema.Struct({ notifications: SubscriptionFilter, _meta: Meta }),
  since: "2026-07-28",
  doc: "The first message of a subscription: the part of it that the server supports.",
})
