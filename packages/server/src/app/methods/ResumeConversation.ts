/** `resumeConversation`: its notification follows the response (L2); the original sends it before. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { GetError } from "@colloquy/core/ConversationManager"
import { ConversationsView } from "../../ConversationsView.ts"
import { snapshot } from "@colloquy/core/listeners/Listening"
import { withoutReverted } from "@colloquy/core/log/Reverted"
import { eventInfo, type EventMsg } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ResumeConversation } from "@colloquy/protocol/app/Conversations"
import { SessionConfigured } from "@colloquy/protocol/app/Events"
import * as Effect from "effect/Effect"
import { type AppHandler, stateOf } from "../AppCall.ts"
import { failed, internal } from "../AppErrors.ts"
import { conversationResult } from "../ConversationResult.ts"
import { overrideSettings } from "../OverrideSettings.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { Params } from "@colloquy/protocol/Method"
import { pathFaultOf, pathFaultText, rolloutPathOf } from "../StoredPaths.ts"

const cannotResume = (error: Parameters<typeof failed>[0]): JsonRpcError =>
  failed(error, "error resuming conversation")

const cannotOpen = (path: string, error: GetError): JsonRpcError => {
  const fault = pathFaultOf("path", path, error)
  return fault === undefined
    ? cannotResume(error)
    : internal(`error resuming conversation: ${pathFaultText(fault)}`, { issues: [fault] })
}

/** True for the events that the original writes to its rollout file and reports again on resume. */
const isReplayed = (msg: EventMsg): boolean =>
  msg.type === "user_message" && (msg.kind ?? "plain") !== "plain"
    ? false
    : eventInfo(msg.type).inRollout && msg.type !== "thread_rolled_back"

/** The conversation whose rollout file is at this path. */
const openAt = Effect.fnUntraced(function* (path: string) {
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.open(path), (error) => cannotOpen(path, error))
})

/** The events of a conversation that the original repeats on resume. */
const initialMessagesOf = (conversation: Conversation) =>
  snapshot(conversation).pipe(
    Effect.map((events) =>
      withoutReverted(events).flatMap(({ msg }) => (isReplayed(msg) ? [msg] : [])),
    ),
    Effect.mapError((error) =>
      error._tag === "Done"
        ? internal("error resuming conversation: the conversation ended")
        : cannotResume(error),
    ),
  )

/** Sends `sessionConfigured`. A closed connection is only logged. */
const notify = (peer: PeerControl, params: Params<typeof SessionConfigured>): Effect.Effect<void> =>
  Effect.catch(peer.notify(SessionConfigured, [params]), ({ reason }) =>
    Effect.logDebug(`sessionConfigured not sent: ${reason}`),
  )

/** Handler of the method. */
export const resumeConversation: AppHandler<typeof ResumeConversation> = Effect.fnUntraced(
  function* ({ overrides, path }, { afterAnswer, connection, peer }) {
    const conversation = yield* openAt(path)
    yield* overrideSettings(conversation, overrides ?? {}, yield* stateOf(conversation))
    const initialMessages = yield* initialMessagesOf(conversation)
    const { seq, settings } = yield* stateOf(conversation)
    connection.cursor.start(conversation.id, seq)
    const made = conversationResult(conversation, settings)
    const resumed = { initialMessages, ...(yield* rolloutPathOf(conversation.id)) }
    const { conversationId: sessionId, ...named } = made
    const history = { historyLogId: 0, historyEntryCount: 0 }
    afterAnswer(notify(peer, { sessionId, ...named, ...history, ...resumed }))
    return { ...made, ...resumed }
  },
)
