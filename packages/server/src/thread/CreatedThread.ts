/** What starting and forking a thread have in common: the caller is subscribed, and all connections are notified. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import { ThreadStarted, ThreadTokenUsageUpdated } from "@colloquy/protocol/thread/Notifications"
import type { ThreadStart } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import { ConversationsView } from "../ConversationsView.ts"
import type { AnnouncedMethod, RecordedMethod } from "./subscriptions/ThreadAnnouncements.ts"
import { describe, historyOf, stateOf, type ThreadCall } from "./ThreadCall.ts"
import { cannotAttach, cannotCreate, cannotGet, threadNotFound } from "./ThreadErrors.ts"
import type { ThreadHistory } from "./ThreadHistory.ts"
import { usageParams } from "./ThreadNotifications.ts"
import { withSettings } from "./ThreadObjects.ts"

/** Sends a notification to the client of this request. A closed connection is only logged. */
export const tell = <M extends Rpc.Any>(
  { connection, peer }: Pick<ThreadCall, "connection" | "peer">,
  method: M,
  params: Params<M>,
): Effect.Effect<void> =>
  Effect.catch(connection.peerOf(peer).notify(method, [params]), ({ reason }) =>
    Effect.logDebug(`${method._tag} not sent: ${reason}`),
  )

/** Sends a notification to the client of this request and to all others of this dialect, at whichever process. */
export const tellAll = <M extends AnnouncedMethod>(
  call: Pick<ThreadCall, "connection" | "peer">,
  method: M,
  params: Params<M>,
): Effect.Effect<void> =>
  Effect.andThen(
    tell(call, method, params),
    Effect.sync(() => call.connection.registry.announce(method, params, call.connection.member)),
  )

/** Notifies all clients of this dialect, at whichever process, of what the request has recorded of a thread. */
export const announceRecorded = <M extends RecordedMethod>(
  { connection }: Pick<ThreadCall, "connection">,
  method: M,
  params: Params<M>,
): Effect.Effect<void> => Effect.sync(() => connection.registry.announceRecorded(method, params))

/** Creates a thread. */
export const createThread = Effect.fnUntraced(function* (
  settings: ConversationSettings,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView> {
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.create(settings), (error) =>
    error._tag === "ConversationUnavailable" || error._tag === "ManagerClosed"
      ? cannotGet("", error, threadNotFound)
      : cannotCreate(error),
  )
})

/** Options of a thread that was created. */
export interface CreatedOptions {
  readonly raw?: boolean
  /** The result has the turns, and their usage is notified; the notification has none. Default false. */
  readonly withTurns?: boolean
}

/** Sends the last usage of a thread to a client that has got its turns, as live turns report it. */
export const tellUsage = (
  call: Pick<ThreadCall, "connection" | "peer">,
  threadId: string,
  { usage }: ThreadHistory,
): Effect.Effect<void> => {
  const params = usage === undefined ? undefined : usageParams(threadId, usage)
  return params === undefined ? Effect.void : tell(call, ThreadTokenUsageUpdated, params)
}

/** Subscribes to a thread that was created and describes it. */
export const created = Effect.fnUntraced(function* (
  conversation: Conversation,
  call: ThreadCall,
  { raw = false, withTurns = false }: CreatedOptions,
): Effect.fn.Return<ResultOf<typeof ThreadStart>, JsonRpcError, ConversationsView> {
  const { connection } = call
  const { id } = conversation
  connection.registry.loaded(id)
  const state = yield* stateOf(conversation)
  const history = yield* historyOf(id, call)
  const thread = yield* describe(id, { history, state }, call)
  yield* Effect.mapError(
    connection.subscribe(
      { conversation, hasTurn: withTurns, history, raw },
      call,
      Effect.andThen(
        withTurns ? tellUsage(call, id, history) : Effect.void,
        tellAll(call, ThreadStarted, { thread }),
      ),
    ),
    cannotAttach,
  )
  return withSettings({ ...thread, turns: withTurns ? history.turns : [] }, state.settings)
})
