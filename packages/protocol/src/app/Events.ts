/** What the server tells on its own (§3.9). One definition per type of event; the last six are not in the original. */
import * as Schema from "effect/Schema"
import { AnyEventMsg, EventMsg } from "../EventMsg.ts"
import { RequestId } from "../JsonRpc.ts"
import { notification } from "../Method.ts"
import { ReasoningEffort } from "../Policy.ts"
import { Open } from "./Fields.ts"

const prefix = "codex/event/"

const subscription = {
  conversationId: Schema.String,
  /** Not in the original: whose listener is told. */
  subscriptionId: Schema.String,
}

const EventParams = Schema.Struct({
  /** Of the turn, or of the submission, that it belongs to. */
  id: Schema.String,
  msg: AnyEventMsg,
  ...subscription,
  /**
   * Where `after` was given, and never in the original. Events that are kept are numbered from 0 without a gap, and each
   * number is sent once and in order, here or by `conversationSkipped`; other events carry the number of the one before.
   */
  seq: Schema.optionalKey(Schema.Int),
})
export type EventParams = typeof EventParams.Type

const define = (type: EventMsg["type"]) =>
  notification(`${prefix}${type}`, {
    params: EventParams,
    since: "0.25",
    doc: `The event \`${type}\` of a conversation, once per listener.`,
  })

const known = new Map<EventMsg["type"], ReturnType<typeof define>>()

/** Made when it is first used: few servers tell of all of them. */
export const eventNotification = (type: EventMsg["type"]) => {
  const found = known.get(type) ?? define(type)
  known.set(type, found)
  return found
}

export const eventTypes: ReadonlyArray<EventMsg["type"]> = EventMsg.members.map(
  ({ fields }) => fields.type.literal,
)

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
  doc: "A stored conversation was taken up.",
})

export const ConversationSynced = notification("conversationSynced", {
  params: Schema.Struct({
    ...subscription,
    /** Of the next event that is kept. */
    seq: Schema.Int,
  }),
  since: "colloquy 0.1",
  doc: "The listener has been told of everything so far; what follows is new. Comes where `after` was given, and after `conversationLagged`.",
})

export const ConversationSkipped = notification("conversationSkipped", {
  params: Schema.Struct({
    ...subscription,
    /** Of an event that is kept. */
    seq: Schema.Int,
  }),
  since: "colloquy 0.1",
  doc: "The event with this number is kept in the log and is not sent to this listener, which did not ask for raw events. With it a listener that gave `after` is sent every number once and in order: a number that is missing is lost.",
})

export const ConversationLagged = notification("conversationLagged", {
  params: Schema.Struct({
    ...subscription,
    /** Of the first event that follows again from the log. */
    from: Schema.Int,
  }),
  since: "colloquy 0.1",
  doc: "The client read too slowly: pieces of text were lost, the events that are kept follow again from a number on.",
})

export const ConversationClosed = notification("conversationClosed", {
  params: Schema.Struct({
    ...subscription,
    /** Why nothing of the conversation can be recorded any more. */
    reason: Schema.optionalKey(Schema.String),
  }),
  since: "colloquy 0.1",
  doc: "Without `reason`: the conversation has ended, because it was archived for example; nothing more is sent to the listener. Sent where `after` was given, and not at the end of the server, since the conversation continues with the next one. With `reason`, sent to every listener: the store failed, the running turn has been stopped and its questions are withdrawn. When the conversation is used again, by any client, the turn gets its terminal event, and the listener is sent it and what follows.",
})

export const CancelRequest = notification("$/cancelRequest", {
  params: Schema.Struct({ id: RequestId }),
  since: "colloquy 0.1",
  doc: "Takes a request back. One of the server's is over without an answer: somebody else gave it, or nobody needs it any more. One of the client's ends and is answered with the error -32800, unless its answer is on its way or it cannot be cancelled; another id is ignored.",
})
