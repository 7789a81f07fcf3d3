/**
 * What one connection remembers for its conversation tools: the calls that were answered and still do something, which
 * a client may cancel (§2.5), who made which conversation, and the questions that are with its client.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { isShort, type RequestId, requestIdKey } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CallElicitations } from "../elicitation/Elicitations.ts"
import type { ToolCaller } from "../codex/TurnCall.ts"
import { LruMap } from "../../internal/LruMap.ts"
import type { Streams } from "./Streams.ts"

/** A client that cancels a call has far fewer between. So many short ids: nothing else is kept of a call that is over. */
const maxRemembered = 1024

/** The conversation that a call of this connection started or continued last, if any. */
export interface LatestConversation {
  id?: ConversationId
}

export interface ConnectionState {
  /** Of the server: at most one stream per conversation, on whichever connection. */
  readonly streams: Streams
  /** What `codex-reply` continues when its caller names no conversation. */
  readonly latest: LatestConversation
  /** What was begun for calls that are answered lives in it. */
  readonly scope: Scope.Scope
  /** What cancelling that call does, after its answer; a later call of the same id forgets it. */
  readonly onCancel: (id: RequestId, effect: Effect.Effect<void>) => void
  /** `effect`: if it is what cancelling that call does. */
  readonly forget: (id: RequestId, effect?: Effect.Effect<void>) => void
  /** The client cancels that call. Returns at once. */
  readonly cancel: (id: RequestId) => Effect.Effect<void>
  /** Conversation and turn of messages of this connection whose end is waited for. */
  readonly attended: Set<string>
  /** That call made the conversation: questions of it name the call (§2.5). */
  readonly made: (conversationId: string, by: RequestId) => void
  /**
   * The questions of a conversation to this client; undefined when it cannot answer. Shared: they are withdrawn when
   * the last scope that uses them ends.
   */
  readonly questions: (
    conversation: Conversation,
    caller: ToolCaller,
  ) => Effect.Effect<CallElicitations | undefined, never, Scope.Scope>
}

/** The state of the connection that the current scope belongs to. */
export const make = (streams: Streams): Effect.Effect<ConnectionState, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const cancels = new LruMap<string | number, Effect.Effect<void>>(maxRemembered)
    const makers = new LruMap<string, RequestId>(maxRemembered)
    return {
      streams,
      scope,
      latest: {},
      attended: new Set(),
      onCancel: (id, effect) => {
        if (isShort(id)) cancels.put(requestIdKey(id), effect)
      },
      forget: (id, effect) => {
        const key = requestIdKey(id)
        if (effect === undefined || cancels.get(key) === effect) cancels.take(key)
      },
      cancel: (id) =>
        Effect.suspend(() => {
          const effect = cancels.take(requestIdKey(id))
          // The reader of the connection goes on: a conversation that is not in memory has to be found first.
          // The end of the connection waits for it: nobody else would stop what was cancelled.
          const alone = { startImmediately: true, uninterruptible: true }
          return effect === undefined
            ? Effect.void
            : Effect.asVoid(Effect.forkIn(effect, scope, alone))
        }),
      made: (conversationId, by) => {
        if (isShort(by)) makers.put(conversationId, by)
      },
      questions: (conversation, { elicitations, peer, requestId }) =>
        elicitations === undefined
          ? Effect.undefined
          : elicitations.share({
              conversation,
              peer,
              requestId: makers.get(conversation.id) ?? requestId,
            }),
    }
  })
