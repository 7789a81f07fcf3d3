/** `subscriptions/listen`: one request whose stream carries what a client asked to be told of (2026-07-28). */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

const Meta = Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))

export const SubscriptionFilter = Schema.Struct({
  toolsListChanged: Schema.optionalKey(Schema.Boolean),
  promptsListChanged: Schema.optionalKey(Schema.Boolean),
  resourcesListChanged: Schema.optionalKey(Schema.Boolean),
  /** Addresses. */
  resourceSubscriptions: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Of the extension for tasks. */
  taskIds: Schema.optionalKey(Schema.Array(Schema.String)),
})
export type SubscriptionFilter = typeof SubscriptionFilter.Type

export const SubscriptionsListen = request("subscriptions/listen", {
  params: Schema.Struct({ notifications: SubscriptionFilter, _meta: Meta }),
  result: Schema.Struct({ _meta: Meta }),
  since: "2026-07-28",
  doc: "Tells of changes of what was asked for until one side ends it; the answer is the end.",
})

export const SubscriptionsAcknowledged = notification("notifications/subscriptions/acknowledged", {
  params: Schema.Struct({ notifications: SubscriptionFilter, _meta: Meta }),
  since: "2026-07-28",
  doc: "The first message of a subscription: what of it is honoured.",
})
