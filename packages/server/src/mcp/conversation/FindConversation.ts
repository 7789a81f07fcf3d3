/** Finds the conversation that the argument `conversation_id` of a tool names. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { badId, cannotGet, type Refusal } from "./Results.ts"

/**
 * Accepts any spelling of the id, and any conversation of this process or its store, also one that another connection
 * created. Fails with `UnknownConversation` if there is none.
 */
export const findConversation = Effect.fn("FindConversation.findConversation")(function* (
  id: string,
): Effect.fn.Return<Conversation, Refusal, ConversationsView> {
  const conversations = yield* ConversationsView
  const parsed = parseConversationId(id)
  if ("problem" in parsed) return yield* badId(parsed.problem)
  return yield* Effect.mapError(conversations.get(parsed.id), (error) =>
    cannotGet(parsed.id, error),
  )
})
