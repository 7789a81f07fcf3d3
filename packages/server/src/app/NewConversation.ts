/** `newConversation` (§3.3). */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { NewConversation } from "@colloquy/protocol/app/Conversations"
import * as Effect from "effect/Effect"
import type { AppHandler } from "./AppCall.ts"
import { cannotCreate } from "./AppErrors.ts"
import { madeOf, settingsOf } from "./Made.ts"
import { rolloutPathOf } from "./StoredPaths.ts"

export const newConversation: AppHandler<typeof NewConversation> = Effect.fnUntraced(function* (
  params,
  { connection },
) {
  const settings = yield* settingsOf(params, { requiresProvider: true })
  const manager = yield* ConversationManager
  const conversation = yield* Effect.mapError(manager.create(settings), cannotCreate)
  // The first event is told by the answer.
  connection.heard.begin(conversation.id, 1)
  return { ...madeOf(conversation, settings), ...(yield* rolloutPathOf(conversation.id)) }
})
