/**
 * Notifications that the app-server sends: one method per event type, named after it, and the notifications about a
 * listener itself, most of which the original does not have.
 */
import * as Schema from "effect/Schema"
import type { Audience, EventInfo } from "../EventDefinition.ts"
import { AnyEventMsg, eventInfo, type EventMsg, eventTypes } from "../EventMsg.ts"
import { RequestId } from "../JsonRpc.ts"
import { notification } from "../Method.ts"
import { ReasoningEffort } from "../Policy.ts"
import { Open } from "./Fields.ts"

const prefix = "codex/event/"

const subscription = {
  conversationId: Schema.String,
  /** The listener that the notification is for. Not in the original. */
  subscriptionId: Schema.String,
}

const EventParams = Schema.Struct({
  /** Id of the turn, or of the submission, that the event belongs to. */
  id: Schema.String,
  msg: AnyEventMsg,
  ...subscription,
  /**
   * Number of the event; present for listeners that gave `after`, never in the original. Durable events are numbered from
   * 0 without a gap, and each number is sent once and in order, here or by `conversationSkipped`; an ephemeral event
   * carries the number of the durable event before it.
   */
  seq: Schema.optionalKey(Schema.Int),
})
/** The parameters of every event notification. */
export type EventParams = typeof EventParams.Type

const receivers: Readonly<Record<Audience, string>> = {
  original: "Sent to every listener.",
  raw: "Sent to listeners that asked for raw events.",
  "codex-mcp": "Sent to listeners that gave `after`.",
  colloquy: "Sent to listeners that gave `after`.",
}

const docOf = ({ audience, doc, legacy }: EventInfo): string =>
  legacy ? doc : `${doc} ${receivers[audience]}`

const define = (type: EventMsg["type"]) =>
  notification(`${prefix}${type}`, {
    params: EventParams,
    unchecked: true,
    since: eventInfo(type).since,
    doc: docOf(eventInfo(type)),
  })

const notifications = new Map(eventTypes.map((type) => [type, define(type)]))

/** The notification of an event type. */
export const eventNotification = (type: EventMsg["type"]) => notifications.get(type) ?? define(type)

/** Its event is not sent by the app-server: this notification has the same content. */
export const SessionConfigured = notification("sessionConfigured", {
  params: Schema.Struct({
    sessionId: Schema.String,
    model: Schema.String,
    reasoningEffort: Schema.optionalKey(ReasoningEffort),
    historyLogId: Schema.Int,
    historyEntryCount: Schema.Int,
    initialMessages: Schema.optionalKey(Schema.Array(Open)),
    rolloutPath: Schema.optionalKey(Schema.String),
  }),
  since: "0.45",
  doc: "A stored conversation was resumed. Sent after the response to `resumeConversation`.",
})

/** The end of the replay. */
export const ConversationSynced = notification("conversationSynced", {
  params: Schema.Struct({
    ...subscription,
    /** Number of the next durable event. */
    seq: Schema.Int,
  }),
  since: "colloquy 0.1",
  doc: "The listener has received every recorded event before the number `seq`; what follows is live. Sent to listeners that gave `after`, and after `conversationLagged`.",
})

/** The number of an event that is not sent. */
export const ConversationSkipped = notification("conversationSkipped", {
  params: Schema.Struct({
    ...subscription,
    /** Number of the durable event. */
    seq: Schema.Int,
  }),
  since: "colloquy 0.1",
  doc: "The durable event with this number is not sent to this listener, which did not ask for raw events. A listener that gave `after` therefore receives every number once and in order, and can detect a lost event by a missing number.",
})

/** The listener fell behind and is resynchronized. */
export const ConversationLagged = notification("conversationLagged", {
  params: Schema.Struct({
    ...subscription,
    /** Number of the first durable event that is sent again from the log. */
    from: Schema.Int,
  }),
  since: "colloquy 0.1",
  doc: "The client read too slowly and deltas were dropped. The durable events follow again, starting with the given number.",
})

/** The conversation has ended, or its store failed. */
export const ConversationClosed = notification("conversationClosed", {
  params: Schema.Struct({
    ...subscription,
    /** Why the conversation can no longer be recorded. */
    reason: Schema.optionalKey(Schema.String),
  }),
  since: "colloquy 0.1",
  doc: "Without `reason`: the conversation has ended, for example because it was archived, and nothing more is sent to this listener. Sent to listeners that gave `after`; not sent when the server shuts down, because the conversation can be resumed then. With `reason`, sent to every listener: the store failed, the running turn was stopped and its questions were withdrawn. When any client uses the conversation again, the turn gets its terminal event, and the listener receives it and what follows.",
})

/** A cancellation, in both directions. */
export const CancelRequest = notification("$/cancelRequest", {
  params: Schema.Struct({ id: RequestId }),
  since: "colloquy 0.1",
  doc: "Cancels a request. From the server: the request needs no response any more, because another client answered the question or it was withdrawn. From the client: the request ends and gets the error -32800 as its response, unless its response is already being sent or it cannot be cancelled. An unknown id is ignored.",
})
