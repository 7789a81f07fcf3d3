/**
 * What one MCP connection keeps for the server's own tools: the conversation it used last, the answered calls that can
 * still be cancelled, which call created which conversation, and how questions reach its client. Knows no tool; every
 * tool gets it together with the `RequestContext` of the call.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { isShort, type RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LruMap } from "../internal/LruMap.ts"
import type { ThreadIdPlace } from "./codex/ToolResults.ts"
import { eventsOf, type VendorEvents } from "./codex/VendorEvents.ts"
import type { CallElicitations, Elicitations } from "./elicitation/Elicitations.ts"
import type { RequestContext } from "./RequestContext.ts"
import { type Session, takesForms } from "./Session.ts"
import type { Streams } from "./conversation/Streams.ts"
import type { AnsweredCalls } from "./AnsweredCalls.ts"

/** Largest number of conversations whose creating call is remembered; the oldest are forgotten. */
const maxRemembered = 1024

/** State of one connection, for the tools of the server itself. */
export interface ConnectionState {
  /** Scope of the connection: holds the work that continues after the response to its call. */
  readonly scope: Scope.Scope
  /** Cancels calls of this connection that have their response already. */
  readonly answered: AnsweredCalls
  /**
   * The conversation that a call of this connection started or continued last. Undefined if there is none, and always
   * in the stateless era, where a request has no connection to remember it.
   */
  readonly latest: (context: RequestContext) => ConversationId | undefined
  /** Sets `latest`. Does nothing for a request of the stateless era. */
  readonly setLatest: (context: RequestContext, id: ConversationId) => void
  /** Turns (conversation and turn id) whose end a message that the client sent already waits for. */
  readonly attended: Set<string>
  /** Remembers that this call created the conversation: questions of the conversation name the call. */
  readonly created: (conversationId: string, by: RequestId) => void
  /** The streams of the server: at most one per conversation, over all connections. */
  readonly streams: Streams
  /** Where a result repeats the id of its conversation. */
  readonly threadIdPlace: ThreadIdPlace
  /** Which `codex/event` notifications the client of this request gets. */
  readonly events: (context: RequestContext) => VendorEvents
  /** How the questions of a turn reach the client of this request. Undefined if it cannot answer any. */
  readonly elicitations: (context: RequestContext) => Elicitations | undefined
  /**
   * The questions of a conversation to this client, shared by all calls that follow the conversation: withdrawn when
   * the last scope that uses them closes. Undefined if the client cannot answer any.
   */
  readonly questions: (
    conversation: Conversation,
    context: RequestContext,
  ) => Effect.Effect<CallElicitations | undefined, never, Scope.Scope>
}

/** What the state of a connection needs besides its scope. */
export interface ConnectionOptions {
  readonly session: Session
  readonly answered: AnsweredCalls
  readonly threadIdPlace: ThreadIdPlace
  readonly streams: Streams
  /** Sends questions as requests to the client. */
  readonly elicitations: Elicitations
  /** Asks questions in the result of the call, for requests whose handler runs again with the answers. */
  readonly statelessElicitations: Elicitations
}

/** Creates the state of one connection. Its work ends with the current scope. */
export const make = Effect.fnUntraced(function* (
  options: ConnectionOptions,
): Effect.fn.Return<ConnectionState, never, Scope.Scope> {
  const { answered, session, streams, threadIdPlace } = options
  const scope = yield* Effect.scope
  const creators = new LruMap<string, RequestId>(maxRemembered)
  let latest: ConversationId | undefined
  const elicitations: ConnectionState["elicitations"] = ({ client, continuation }) => {
    if (!takesForms(client.capabilities)) return undefined
    return continuation === undefined ? options.elicitations : options.statelessElicitations
  }
  return {
    scope,
    answered,
    latest: ({ era }) => (era === "stateless" ? undefined : latest),
    setLatest: ({ era }, id) => {
      if (era !== "stateless") latest = id
    },
    attended: new Set(),
    created: (conversationId, by) => {
      if (isShort(by)) creators.put(conversationId, by)
    },
    streams,
    threadIdPlace,
    events: (context) => eventsOf(session, context),
    elicitations,
    questions: (conversation, context) => {
      const requestId = creators.get(conversation.id) ?? context.requestId
      const { peer } = context
      return elicitations(context)?.share({ conversation, peer, requestId }) ?? Effect.undefined
    },
  }
})
