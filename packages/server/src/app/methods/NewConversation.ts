/** `newConversation`: creates a conversation. */
import { ConversationsView } from "../../ConversationsView.ts"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import type { NewConversation } from "@colloquy/protocol/app/Conversations"
import * as Effect from "effect/Effect"
import { type AppHandler, stateOf } from "../AppCall.ts"
import { cannotCreate } from "../AppErrors.ts"
import { conversationResult, settingsOf } from "../ConversationResult.ts"
import { rolloutPathOf } from "../StoredPaths.ts"

/** Handler of the method. */
export const newConversation: AppHandler<typeof NewConversation> = Effect.fnUntraced(function* (
  params,
  { connection },
) {
  const settings = yield* settingsOf(params, { requiresProvider: true })
  const manager = yield* ConversationsView
  const conversation = yield* Effect.mapError(manager.create(settings), cannotCreate)
  // The response carries what the first event says, and a resumed history is not delivered again.
  const started =
    settings.resumePath === undefined ? Effect.succeed({ seq: 1 }) : stateOf(conversation)
  const [{ seq }, path] = yield* Effect.all([started, rolloutPathOf(conversation.id)]).pipe(
    removeOnFailure(conversation.id),
  )
  connection.cursor.start(conversation.id, seq)
  return { ...conversationResult(conversation, settings), ...path }
})
